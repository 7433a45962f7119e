import assert from "node:assert/strict";
import { asked, counts, open, quiet, until, written } from "../harness.mjs";

/** Two people: other questions, live counts, and their own undo. */
export default async function ({ browser, address }) {
  const ann = await open(browser, address, { name: "Ann" });
  const bob = await open(browser, address, { name: "Bob" });
  await ann.getByRole("button", { name: "You are Ann" }).locator(".badge").waitFor();
  assert.notEqual(String(await asked(ann)), String(await asked(bob)), "two different questions");
  const before = await counts(ann);
  await bob.keyboard.press("u");
  await until(async () => (await counts(ann)).unsure === before.unsure + 1, "Ann to see Bob's answer");
  const shown = await asked(ann);
  await written(ann, "answer", () => ann.keyboard.press("u"));
  await until(async () => (await counts(bob)).unsure === before.unsure + 2, "Bob to see Ann's");
  await asked(bob);
  await bob.keyboard.press("z");
  await until(async () => (await counts(ann)).unsure === before.unsure + 1, "Bob's undo");
  const left = await ann.evaluate(async () => (await (await fetch("/api/history?annotator=Ann")).json()).answers[0]);
  assert.equal(left.state, "in force", "Bob undoes his own answer, not Ann's");
  assert.deepEqual([...left.ids].sort(), [...shown].sort());
  for (const page of [ann, bob]) quiet(page, address);
}
