import assert from "node:assert/strict";
import { ask, open, quiet, send, settled, until, written } from "../harness.mjs";

export default async function ({ browser, address, handOf }) {
  const page = await open(browser, address, { name: "Dov" });
  const hand = handOf(page);
  await hand.visit("Doubts");
  await page.getByText("No two records were said to be the same or different yet.").waitFor();
  for (const [rows, answer] of [[[50, 51], "same"], [[51, 52], "same"], [[50, 52], "different"]]) {
    assert.equal((await send(page, "/api/answer", { question: null, rows, answer, despite_clash: true })).status, 200);
  }
  await settled(page);
  await hand.visit("Doubts");
  const sets = page.getByRole("region", { name: "Contradictions" });
  await sets.waitFor();
  const mine = sets.locator("li.doubt", { hasText: "r052" }).first();
  const { contradictions } = await ask(page, "/api/doubts");
  const set = contradictions.find(({ answers }) => answers.some(({ ids }) => ids.includes("r052")));
  assert.equal(set.answers.length, 3, "a minimal set");

  // Retract one: the contradiction is gone; undo brings it back.
  const wrong = set.answers.find(({ answer }) => answer === "different").number;
  await written(page, "retract", () => hand.press(mine.getByRole("button", { name: `Retract answer ${wrong}`, exact: true })));
  await mine.waitFor({ state: "detached" });
  await written(page, "undo", () => hand.undo());
  await mine.waitFor();

  // Keep it: it was looked at, and is not shown again.
  await written(page, "keep", () => hand.press(mine.getByRole("button", { name: "Keep them all" })));
  await mine.waitFor({ state: "detached" });

  // One of the three is broken by any clustering: its records unfold, and it can be retracted.
  await settled(page);
  const place = page.getByRole("region", { name: /^(Broken pairs|Suspect answers)$/ }).first();
  const first = place.locator("li.doubt").first();
  await hand.press(first.locator("summary"));
  await first.locator(".pair-table").waitFor();
  const { number } = await written(page, "retract", () => hand.press(first.getByRole("button", { name: "Retract" })));
  await until(async () => (await ask(page, "/api/history?q=r05")).answers.find((answer) => answer.number === number).state === "retracted", "it to be retracted");
  await page.getByText("Retracted. Undo brings it back.").first().waitFor();
  quiet(page, address);
}
