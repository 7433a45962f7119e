import { render } from "preact";
import { describe, expect, it, vi } from "vitest";
import { Nothing } from "../src/components/Nothing";
import type { Asking } from "../src/state/useQuestion";

function shown(asking: Partial<Asking>): { place: HTMLElement; goOn: ReturnType<typeof vi.fn> } {
  const goOn = vi.fn();
  const base = { question: null, done: null, early: false, error: null, waiting: false };
  const place = document.createElement("div");
  render(<Nothing asking={{ ...base, goOn, ...asking } as unknown as Asking} />, place);
  return { place, goOn };
}

describe("where a question would stand", () => {
  it("says that one is on its way", () => {
    expect(shown({}).place.textContent).toContain("Looking for the next question");
  });

  it("lets people go on where enough is known", () => {
    const { place, goOn } = shown({ done: "by estimate 99.6% of the records are together", early: true });
    expect(place.textContent).toContain("Enough is known");
    expect(place.textContent).toContain("By estimate 99.6% of the records are together.");
    place.querySelector("button")!.click();
    expect(goOn).toHaveBeenCalledOnce();
  });

  it("offers nothing where nothing is left", () => {
    const { place } = shown({ done: "every pair is answered" });
    expect(place.textContent).toContain("Nothing is left to ask");
    expect(place.querySelector("button")).toBeNull();
  });
});
