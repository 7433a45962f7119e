import { expect, it, vi } from "vitest";
import type { Model } from "../src/api/messages";
import type { Question, State } from "../src/api/types";
import widget from "../src/studio";

const field = (value: string) => ({ name: "name", value, kind: "text" as const });
const QUESTION: Question = {
  id: "q1", kind: "pair", rows: [0, 1], phase: "random", why: "Why not.", gain: null, expires: 120,
  records: [{ row: 0, id: "r0", cluster: null, fields: [field("Ann")] }, { row: 1, id: "r1", cluster: null, fields: [field("Anne")] }],
};
const COUNTS = { same: 0, different: 0, unknown: 0, later: 0, asked: 0, known: 0, budget: null, mine: 0 };
const STATE = {
  phase: "ready", message: "", session: "s", data: null, me: { name: "Ann" }, people: [], counts: COUNTS, can_undo: false,
  can_redo: false, n_clusters: 1, stability: null, advice: null, done: null, fit: null, layouts: [], notes: [], version: "1",
} as unknown as State;

it("answers in a notebook's cell by messages", async () => {
  type Callback = Parameters<Model["on"]>[1];
  const asked: { name: string; body: Record<string, unknown> }[] = [];
  let deliver: Callback = () => undefined;
  const replies: Record<string, unknown> = {
    state: STATE, guidelines: { text: "Be kind." }, question: { question: QUESTION, done: null }, release: {},
    answer: { counts: { ...COUNTS, same: 1 }, can_undo: true, can_redo: false, next: null, done: "That was all." },
  };
  const model: Model = {
    send(content) {
      const message = content as { call: number; name: string; body: Record<string, unknown> };
      asked.push(message);
      queueMicrotask(() => deliver({ reply: message.call, value: replies[message.name] }, []));
    },
    on: (_, callback) => (deliver = callback),
    off: () => undefined,
    get: (name) => (name === "views" ? ["answer", "map"] : false),
  };
  const el = document.body.appendChild(document.createElement("div"));
  const end = widget.render({ model, el });
  await vi.waitFor(() => expect(el.querySelector("td")?.textContent).toBe("Ann"));
  const press = (target: EventTarget): boolean => target.dispatchEvent(new KeyboardEvent("keydown", { key: "u", bubbles: true, composed: true }));
  press(document.body); // meant for the notebook
  expect(asked.some(({ name }) => name === "answer")).toBe(false);
  const same = [...el.querySelectorAll("button")].find((button) => button.textContent.startsWith("Same"))!;
  same.focus(); // JupyterLab asks the element that has the focus first
  expect(same.dataset["lmSuppressShortcuts"]).toBe("true");
  same.click();
  await vi.waitFor(() => expect(el.textContent).toContain("That was all."));
  expect(asked.find(({ name }) => name === "answer")?.body).toMatchObject({ question: "q1", rows: [0, 1], answer: "same", session: "s" });
  expect(el.textContent).toContain("1 same");
  end();
  expect(el.textContent).toBe("");
});
