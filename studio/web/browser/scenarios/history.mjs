import assert from "node:assert/strict";
import { ask, asked, open, quiet, until, written } from "../harness.mjs";

const mine = async (page) => (await ask(page, "/api/history?annotator=Hal")).answers;

export default async function ({ browser, address, handOf }) {
  const page = await open(browser, address, { name: "Hal" });
  const hand = handOf(page);
  await asked(page);
  await written(page, "answer", () => hand.press(page.getByRole("button", { name: "Unsure", exact: true })));
  await hand.visit("History");
  const rows = page.locator("table.history tbody tr");
  const people = page.getByLabel("Person");

  // Filter by person, by state and by record.
  await until(async () => (await people.locator("option").allInnerTexts()).includes("Hal"), "Hal to be listed");
  await hand.choose(people, "Hal");
  await until(async () => (await rows.count()) === 1 && (await rows.locator("td:nth-child(4)").innerText()) === "Hal", "only Hal's answer");
  const [newest] = await mine(page);
  await hand.write(page.getByRole("searchbox", { name: "Record" }), "no such record");
  await until(async () => (await rows.count()) === 0, "no answer about it");
  await hand.write(page.getByRole("searchbox", { name: "Record" }), newest.ids[0]);
  await until(async () => (await rows.count()) === 1, "the answer about it");

  // Look at its records.
  await hand.press(page.getByRole("button", { name: `Records of answer ${newest.number}:` }));
  await page.getByRole("dialog").locator(".pair-table").getByRole("columnheader", { name: newest.ids[1] }).waitFor();
  await page.keyboard.press("Escape");
  await page.getByRole("dialog").waitFor({ state: "detached" });

  // Edit it: the old one is retracted and the new one recorded.
  const edited = await written(page, "edit", () => hand.choose(page.getByLabel(`Answer ${newest.number}`, { exact: true }), "later"));
  assert.deepEqual([edited.number, edited.answer], [newest.number, "later"]);
  const [changed, old] = await mine(page);
  assert.deepEqual([changed.answer, old.number], ["later", newest.number]);
  assert.notEqual(old.state, "in force");

  // Retract it; both show how they ended.
  await written(page, "retract", () => hand.press(page.getByRole("button", { name: `Retract answer ${changed.number}`, exact: true })));
  await until(async () => (await page.locator("table.history tr.void").count()) === 2, "both to be struck out");
  await hand.choose(page.getByLabel("State"), "in force");
  await until(async () => (await rows.count()) === 0, "none to be in force");
  await written(page, "undo", () => hand.undo());
  await until(async () => (await rows.count()) === 1, "the one that is again");

  // Who answered, programs included.
  await hand.visit("Answer");
  await asked(page);
  await written(page, "answer", () => hand.press(page.getByRole("button", { name: "Different", exact: true })), { hand });
  await hand.visit("History");
  await page.getByRole("region", { name: "Annotators", exact: true }).getByRole("rowheader", { name: "Hal" }).waitFor();
  quiet(page, address);
}
