import { describe, expect, it } from "vitest";
import { differences, type Stretch, worthMarking } from "../src/text/differences";

const whole = (stretches: readonly Stretch[]): string => stretches.map((stretch) => stretch.text).join("");
const marked = (stretches: readonly Stretch[]): string[] => stretches.filter((one) => !one.same).map((one) => one.text);

describe("differences", () => {
  it("marks only the letters that differ within a word", () => {
    const { left, right } = differences("Jonas Bergman, Oslo", "Jonnas Bergman, Oslo");
    expect(marked(left)).toEqual([]);
    expect(marked(right)).toEqual(["n"]);
  });

  it("marks a missing space, not the words beside it", () => {
    const { left, right } = differences("65Harbour Street", "65 Harbour Street");
    expect([marked(left), marked(right)]).toEqual([[], [" "]]);
  });

  it("marks words that only one side has", () => {
    const { left, right } = differences("12 High Street, Leeds", "High Street, Leeds LS1");
    expect(marked(left)).toEqual(["12 "]);
    expect(marked(right)).toEqual([" LS1"]);
  });

  it("takes letter case as no difference, and keeps it as it is", () => {
    const { left, right } = differences("ACME Ltd", "Acme LTD");
    expect(marked(left).concat(marked(right))).toEqual([]);
    expect([whole(left), whole(right)]).toEqual(["ACME Ltd", "Acme LTD"]);
  });

  it("never loses or invents a character", () => {
    const letters = ["a", "b", " ", "-", "ß", "漢", "𝄞", "A"];
    let seed = 1;
    const random = (n: number): number => (seed = (seed * 48271) % 2147483647) % n;
    for (let round = 0; round < 300; round++) {
      const text = (): string => Array.from({ length: random(12) }, () => letters[random(letters.length)]!).join("");
      const [a, b] = [text(), text()];
      const { left, right } = differences(a, b);
      expect(whole(left)).toBe(a);
      expect(whole(right)).toBe(b);
      const shared = (side: readonly Stretch[]): string => side.filter((one) => one.same).map((one) => one.text.toLowerCase()).join("");
      expect(shared(left)).toBe(shared(right));
    }
  });

  it("gives up aligning very long texts but shows them whole", () => {
    const [a, b] = ["word ".repeat(2000), "other ".repeat(2000)];
    const { left, right } = differences(a, b);
    expect(whole(left)).toBe(a);
    expect(whole(right)).toBe(b);
  });

  it("marks long texts only where they share something", () => {
    const one = "the oven was hot and the bread came out with a brown crust, as it should";
    const other = "shares fell when interest rates were raised by a quarter of a point on Monday";
    expect(worthMarking(differences(one, other))).toBe(false);
    expect(worthMarking(differences(one, one.replace("brown", "black")))).toBe(true);
    expect(worthMarking(differences("Leipzig", "Bremen"))).toBe(true);
  });
});
