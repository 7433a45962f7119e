import assert from "node:assert/strict";
import { ask, asked, open, quiet, until, written } from "../harness.mjs";

const history = async (page) => (await ask(page, "/api/history?limit=50&annotator=Sol")).answers;

/** Four cards: two into the first pile, one into the second, one stays on the table. */
export default async function ({ browser, address, handOf }) {
  const page = await open(browser, address, { name: "Sol" });
  const hand = handOf(page);
  await asked(page);
  await hand.visit("Sort");
  await hand.choose(page.getByRole("combobox", { name: "Cards" }), "4");
  const cards = page.locator('.sorting[aria-busy="false"] .pile.loose .card');
  await until(async () => (await cards.count()) === 4, "four cards");
  const ids = await cards.locator(".record-id").allInnerTexts();

  const card = (id) => page.locator(".card", { has: page.locator(".record-id", { hasText: new RegExp(`^${id}$`) }) });
  const place = (pile) => page.getByRole("region", { name: new RegExp(`^Pile ${pile}`) });
  if (hand.name === "mouse") {
    await card(ids[0]).dragTo(place(1)); // dragged, or chosen and sent
    await card(ids[1]).dragTo(place(1));
    await card(ids[2]).click();
    await place(2).getByRole("button", { name: "Put here" }).click();
  } else {
    await hand.reach(card(ids[0]));
    await page.keyboard.press("ArrowRight"); // to the second card and back, then each to the pile of its key
    await page.keyboard.press("ArrowLeft");
    for (const key of ["1", "1", "2"]) await page.keyboard.press(key);
  }
  await page.getByRole("region", { name: "Pile 1, 2 cards" }).waitFor();
  await page.getByRole("region", { name: "Pile 2, 1 card" }).waitFor();
  const before = (await history(page)).length;
  const submit = page.getByRole("button", { name: "Submit the piles" });
  await written(page, "answer", () => (hand.name === "mouse" ? submit.click() : page.keyboard.press("Enter")), { hand });
  const all = await history(page);
  const said = all.slice(0, all.length - before);
  const of = (a, b) => said.find(({ ids: pair }) => pair.includes(a) && pair.includes(b))?.answer;
  assert.equal(of(ids[0], ids[1]), "same");
  assert.ok(said.some(({ answer, ids: pair }) => answer === "different" && pair.includes(ids[2])));
  assert.ok(said.some(({ answer, ids: pair }) => answer === "unknown" && pair.includes(ids[3])));
  await until(async () => (await cards.count()) === 4, "the next four cards");

  // One step of undo takes all of it back.
  await written(page, "undo", () => hand.undo());
  assert.ok((await history(page)).every(({ state }) => state !== "in force"));
  quiet(page, address);
}
