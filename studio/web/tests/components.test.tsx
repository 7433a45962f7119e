import { render } from "preact";
import { describe, expect, it, vi } from "vitest";
import type { Field, State, StudioRecord } from "../src/api/types";
import type { Transport } from "../src/api/transport";
import { PairTable } from "../src/components/PairTable";
import { RecordFields } from "../src/components/RecordFields";
import { recordLine } from "../src/components/recordLine";
import { Studio, StudioContext } from "../src/state/studio";

const EVIL = "<img src=x onerror=alert(1)><script>alert(2)</script>";

function record(row: number, ...values: [string, string, Field["kind"]?][]): StudioRecord {
  return { row, id: `R${row}`, cluster: null, fields: values.map(([name, value, kind]) => ({ name, value, kind: kind ?? "text" })) };
}

/** A studio whose table has columns that are not shown at first. */
function studioWith(more: number, call: Transport["call"] = () => Promise.resolve({})): Studio {
  const studio = new Studio({ call } as unknown as Transport);
  studio.state.value = { data: { n_more_fields: more } } as unknown as State;
  return studio;
}

function shown(left: StudioRecord, right: StudioRecord, toggleFold = vi.fn(), studio = studioWith(0), folded = true): HTMLElement {
  const place = document.createElement("div");
  const table = <PairTable left={left} right={right} folded={folded} toggleFold={toggleFold} />;
  render(<StudioContext.Provider value={studio}>{table}</StudioContext.Provider>, place);
  return place;
}

describe("two records", () => {
  it("are text, never HTML", () => {
    const place = shown(record(1, ["name", EVIL]), record(2, ["name", `${EVIL}!`]));
    expect(place.querySelectorAll("img, script")).toHaveLength(0);
    expect(place.querySelector("td")!.textContent).toBe(EVIL);
    expect([...place.querySelectorAll("mark")].map((mark) => mark.textContent)).toEqual(["!"]);
  });

  it("align their fields and say what is missing", () => {
    const place = shown(record(1, ["name", "Ann"], ["city", ""]), record(2, ["name", "Ann"], ["city", "Oslo"]));
    const rows = [...place.querySelectorAll("tbody tr")].map((row) => [...row.children].map((cell) => cell.textContent));
    expect(rows).toEqual([["name (equal)", "Ann", "Ann"], ["city", "empty", "Oslo"]]);
  });

  it("fold long text behind a button", () => {
    const toggle = vi.fn();
    const place = shown(record(1, ["note", "x ".repeat(400)]), record(2, ["note", "short"]), toggle);
    expect(place.querySelectorAll(".folded")).toHaveLength(1);
    place.querySelector("button")!.click();
    expect(toggle).toHaveBeenCalledOnce();
    expect(shown(record(1, ["a", "b"]), record(2, ["a", "c"])).querySelector("button")).toBeNull();
  });

  it("mark numbers that differ much more than those that differ a little", () => {
    const measured = (row: number, value: string): StudioRecord => ({ ...record(row), fields: [{ name: "x", value, kind: "number", spread: 0.5 }] });
    const marks = (a: string, b: string): string[] => [...shown(measured(1, a), measured(2, b)).querySelectorAll("mark")].map((mark) => mark.className);
    expect(marks("1.0", "1.4")).toEqual(["differs slight", "differs slight"]);
    expect(marks("1.0", "1.5")).toEqual(["differs", "differs"]);
    expect(marks("1.0", "1.0")).toEqual([]);
    expect(marks("1 kg", "1.1 kg")).toEqual(["differs", "differs"]);
  });

  it("show the columns that are left out at first when asked to", async () => {
    const whole = [1, 2].map((row) => record(row, ["a", "b"], ["late", `v${row}`]));
    const call = vi.fn((): Promise<unknown> => Promise.resolve({ records: whole }));
    const pair = [record(1, ["a", "b"]), record(2, ["a", "b"])] as const;
    expect(shown(...pair, vi.fn(), studioWith(1, call)).querySelector("button")!.textContent).toContain("Show 1 more column");
    expect(call).not.toHaveBeenCalled();
    const place = shown(...pair, vi.fn(), studioWith(1, call), false);
    await vi.waitFor(() => expect(place.textContent).toContain("latev1v2"));
    expect(call).toHaveBeenCalledWith("records", { rows: [1, 2], whole: true });
    expect(place.querySelector("button")!.textContent).toContain("Show less");
  });

  it("show images from data and from the server's address", () => {
    const left = record(1, ["photo", "data:image/png;base64,AAAA", "image"]);
    const right: StudioRecord = { ...left, row: 2, id: "R2", fields: [{ name: "photo", value: "a.png", kind: "image", src: "/api/image?row=2&field=photo" }] };
    const images = [...shown(left, right).querySelectorAll("img")];
    expect(images.map((image) => image.getAttribute("src"))).toEqual(["data:image/png;base64,AAAA", "/api/image?row=2&field=photo"]);
    expect(images.map((image) => image.alt)).toEqual(["photo of R1", "photo of R2"]);
  });
});

it("says of a card that not all of the record is on it", () => {
  const place = document.createElement("div");
  render(<RecordFields record={record(1, ["a", "1"], ["b", "2"], ["c", ""], ["d", "4"])} most={2} still />, place);
  expect([...place.querySelectorAll("dt")].map((name) => name.textContent)).toEqual(["a", "b"]);
  expect(place.textContent).toContain("and more");
  render(<RecordFields record={record(1, ["a", "1"], ["b", "2"])} most={2} still />, place);
  expect(place.textContent).not.toContain("more");
});

it("writes a record in one line without its id and images", () => {
  expect(recordLine(record(3, ["id", "R3"], ["name", "Ann"], ["photo", "a.png", "image"], ["city", "Oslo"]))).toBe("Ann · Oslo");
  expect(recordLine(record(3, ["name", "x".repeat(300)]), 20)).toHaveLength(20);
});
