import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { ask, asked, open, pair, quiet, send, until, written } from "../harness.mjs";

const AXE = await readFile(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** Dialogs and refusals: named, focus inside, Escape closes, axe finds nothing. */
export default async function ({ browser, address }) {
  const page = await open(browser, address, { name: "Dia" });
  await page.evaluate(AXE);
  await asked(page);
  for (const [key, name] of [["?", "Keys"], ["p", "Pick another record"]]) {
    await page.keyboard.press(key);
    const dialog = page.getByRole("dialog", { name });
    await dialog.waitFor();
    assert.ok(await dialog.evaluate((element) => element.contains(document.activeElement)), `focus is in ${name}`);
    const { violations } = await page.evaluate(() => globalThis.axe.run(document, { resultTypes: ["violations"] }));
    assert.deepEqual(violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html.slice(0, 160))]), [], name);
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "detached" });
  }

  // An answer that contradicts others waits for a decision; nothing is recorded meanwhile.
  for (const rows of [[56, 57], [57, 58]]) assert.equal((await send(page, "/api/answer", { question: null, rows, answer: "same" })).status, 200); // so 56 and 58 are the same
  const pick = async (id) => {
    await page.getByRole("searchbox").fill(id);
    await page.getByRole("list", { name: "Records found" }).getByRole("button", { name: id }).click();
    await page.getByRole("dialog").waitFor({ state: "detached" });
  };
  await page.keyboard.press("p");
  await pick("r056");
  await until(async () => (await pair(page))[1] === "r056", "the picked record");
  await page.keyboard.press("p");
  await page.getByRole("radio", { name: "r056" }).check();
  await pick("r058");
  await until(async () => String(await pair(page)) === "r056,r058", "the two picked records");
  const total = async () => (await ask(page, "/api/history?q=r058")).total;
  const before = await total();
  await page.keyboard.press("d");
  const clash = page.getByRole("dialog", { name: "Earlier answers say the opposite" });
  await clash.waitFor();
  assert.match(await clash.innerText(), /r057 and r058/);
  await clash.getByRole("button", { name: "Forget my answer" }).click();
  await clash.waitFor({ state: "detached" });
  assert.equal(await total(), before);
  await page.keyboard.press("d");
  await written(page, "retract", () => clash.getByRole("button", { name: "Retract this one" }).first().click());
  await until(async () => (await ask(page, "/api/history?q=r058")).answers.some(({ answer, ids, state }) => answer === "different" && ids.includes("r056") && state === "in force"), "the new answer instead of the old");
  quiet(page, address);
}
