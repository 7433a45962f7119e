import assert from "node:assert/strict";
import { asked, counts, keyboard, open, pair, quiet, until, written } from "../harness.mjs";

export default async function ({ browser, address }) {
  const page = await open(browser, address, { name: "Kay" });
  const hand = keyboard(page);
  await asked(page);
  const before = await counts(page);
  for (const [key, word] of [["s", "same"], ["d", "different"], ["u", "unsure"], ["l", "later"]]) {
    const shown = await asked(page);
    await written(page, "answer", () => page.keyboard.press(key), { hand });
    assert.equal((await counts(page))[word], before[word] + 1);
    assert.notEqual(String(await asked(page)), String(shown));
  }

  // Undo goes back as often as one likes, and the pair comes back; redo gives all again.
  await page.keyboard.press("z");
  await page.getByRole("heading", { name: "What about these two?" }).waitFor();
  for (let step = 0; step < 3; step++) await page.keyboard.press("z"); // faster than replies come
  await until(async () => JSON.stringify(await counts(page)) === JSON.stringify(before), "four steps to be undone");
  for (let step = 0; step < 4; step++) await page.keyboard.press("y");
  await until(async () => (await counts(page)).later === before.later + 1, "four steps to be done again");
  assert.equal((await counts(page)).same, before.same + 1);
  await page.getByRole("heading", { name: "Do these two belong together?" }).waitFor();

  // Why is hidden until somebody wants to know, and hidden again with the next question.
  const shown = await asked(page);
  assert.equal(await page.locator(".why").count(), 0);
  await page.keyboard.press("w");
  assert.ok((await page.locator(".why").innerText()).length > 10);
  await page.keyboard.press("u");
  await until(async () => String(await pair(page)) !== String(shown), "the next question");
  assert.equal(await page.locator(".why").count(), 0, "the reason hides");

  // Guidelines: shown, written and hidden by key.
  const pane = page.getByRole("region", { name: "Guidelines" });
  if (!(await pane.isVisible())) await page.keyboard.press("g");
  await hand.press(pane.getByRole("button", { name: "Edit" }));
  await hand.write(page.getByRole("textbox", { name: "Guidelines" }), "Look at the name first.");
  await hand.press(page.getByRole("button", { name: "Save" }));
  await pane.getByText("Look at the name first.").waitFor();
  await page.evaluate(() => document.activeElement?.blur());
  await page.keyboard.press("g");
  await pane.waitFor({ state: "detached" });

  // Pick another record.
  const [left] = await asked(page);
  await page.keyboard.press("p");
  await page.keyboard.type("r007"); // into the search field, which has the focus
  const found = page.getByRole("list", { name: "Records found" }).getByRole("button");
  await until(async () => (await found.count()) === 1, "the one record to be found");
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  await until(async () => String(await pair(page)) === String([left, "r007"]), "the picked record beside the kept one");
  quiet(page, address);
}
