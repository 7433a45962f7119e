import { render } from "preact";
import { expect, it, vi } from "vitest";
import type { Question } from "../src/api/types";
import { Board } from "../src/sort/Board";
import { Studio, StudioContext } from "../src/state/studio";
import type { Transport } from "../src/api/transport";

const ROWS = [4, 7, 9, 2];
const QUESTION: Question = {
  id: "q1", kind: "set", rows: ROWS, phase: "set", why: "", gain: null, expires: 120,
  records: ROWS.map((row) => ({ row, id: `r${row}`, cluster: null, fields: [] })),
};

it("puts every card where its key says, however fast the keys come", async () => {
  const place = document.body.appendChild(document.createElement("div"));
  const submit = vi.fn();
  const studio = new Studio({} as Transport);
  render(
    <StudioContext.Provider value={studio}>
      <Board question={QUESTION} busy={false} submit={submit} />
    </StudioContext.Provider>,
    place,
  );
  for (const key of ["1", "1", "2", "Enter"]) {
    document.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
    await Promise.resolve(); // a browser draws between two keys, and runs nothing else
  }
  expect(submit).toHaveBeenCalledExactlyOnceWith([[4, 7], [9]]);
  render(null, place);
});

it("puts the chosen card into a pile by the button at hand", async () => {
  const place = document.body.appendChild(document.createElement("div"));
  const submit = vi.fn();
  render(
    <StudioContext.Provider value={new Studio({} as Transport)}>
      <Board question={QUESTION} busy={false} submit={submit} />
    </StudioContext.Provider>,
    place,
  );
  const button = (name: string) => [...place.querySelectorAll("button")].find((one) => one.textContent.startsWith(name));
  for (const name of ["Pile 1", "Pile 2", "Submit"]) {
    button(name)?.click();
    await new Promise((drawn) => setTimeout(drawn));
  }
  expect(submit).toHaveBeenCalledExactlyOnceWith([[4], [7]]);
  render(null, place);
});
