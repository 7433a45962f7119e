import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { asked, open, quiet, settled, written } from "../harness.mjs";

export default async function ({ browser, address, handOf }) {
  const page = await open(browser, address, { name: "Rex" });
  await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
  const hand = handOf(page);
  for (let fits = 0; fits < 2; fits++) {
    await asked(page);
    await written(page, "answer", () => hand.press(page.getByRole("button", { name: "Unsure", exact: true })));
    await settled(page);
  }
  await hand.visit("Result");
  await page.getByRole("img", { name: /Learning curve of \d+ fits/ }).waitFor();
  assert.ok((await page.locator(".curve canvas").evaluate((canvas) => canvas.width)) > 300);

  // Exports: each link is one.
  const links = page.getByRole("region", { name: "Export" }).getByRole("link");
  assert.ok((await links.count()) >= 5);
  for (const link of await links.all()) {
    const [download] = await Promise.all([page.waitForEvent("download"), hand.press(link)]);
    const content = await readFile(await download.path());
    assert.ok(content.length > 0, download.suggestedFilename());
    if (/rows\.csv$/.test(download.suggestedFilename())) assert.equal(content.toString().trim().split("\n").length, 61);
  }

  // The Python that does the same, to copy.
  const code = await page.getByRole("region", { name: "The same in Python: code" }).innerText();
  assert.match(code, /coterie/);
  await hand.press(page.getByRole("button", { name: "Copy: The same in Python" }));
  await page.getByText("Copied.").waitFor();
  assert.equal((await page.evaluate(() => navigator.clipboard.readText())).trim(), code.trim());
  quiet(page, address);
}
