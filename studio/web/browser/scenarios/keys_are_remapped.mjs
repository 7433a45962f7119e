import assert from "node:assert/strict";
import { asked, counts, open, quiet, until, written } from "../harness.mjs";

export default async function ({ browser, address }) {
  const page = await open(browser, address, { name: "Rae" });
  await page.keyboard.press("?");
  const dialog = page.getByRole("dialog", { name: "Keys" });
  await dialog.waitFor();
  await dialog.getByRole("button", { name: /^Key of Unsure/ }).focus();
  await page.keyboard.press("Enter");
  await dialog.getByText("press a key…").waitFor();
  await page.keyboard.press("j");
  await dialog.getByRole("button", { name: "Key of Unsure: J" }).waitFor();
  await page.keyboard.press("Escape");
  await dialog.waitFor({ state: "detached" });
  assert.match(await page.getByRole("button", { name: "Unsure", exact: true }).innerText(), /J/);
  const shown = await asked(page);
  const before = await counts(page);
  await page.keyboard.press("u");
  assert.deepEqual(await asked(page), shown, "the old key does nothing");
  assert.deepEqual(await counts(page), before);
  await written(page, "answer", () => page.keyboard.press("j"));
  assert.equal((await counts(page)).unsure, before.unsure + 1);
  await page.reload();
  await until(async () => /J/.test(await page.getByRole("button", { name: "Unsure", exact: true }).innerText()), "the key to be remembered");

  // Letters in a field are letters.
  await asked(page);
  await page.keyboard.press("p");
  await page.getByRole("searchbox").waitFor();
  const again = await counts(page);
  await page.keyboard.type("jsd");
  assert.equal(await page.getByRole("searchbox").inputValue(), "jsd");
  assert.deepEqual(await counts(page), again);
  quiet(page, address);
}
