import assert from "node:assert/strict";
import { ask, asked, counts, open, pair, quiet, until, written } from "../harness.mjs";

export default async function ({ browser, address }) {
  const page = await open(browser, address, { name: "Mo" });
  const button = (name) => page.getByRole("button", { name, exact: true });
  await asked(page);
  const before = await counts(page);
  for (const name of ["Same", "Different", "Unsure", "Later"]) {
    const shown = await asked(page);
    await written(page, "answer", () => button(name).click());
    const word = name.toLowerCase();
    assert.equal((await counts(page))[word], before[word] + 1);
    assert.notEqual(String(await asked(page)), String(shown));
  }
  await button("Undo").click();
  await until(async () => (await counts(page)).later === before.later, "the answer to be undone");
  await page.getByRole("heading", { name: "What about these two?" }).waitFor();
  await button("Redo").click();
  await until(async () => (await counts(page)).later === before.later + 1, "the answer to be given again");
  await page.getByRole("heading", { name: "Do these two belong together?" }).waitFor();
  await asked(page);
  await page.getByRole("button", { name: "Why this question" }).click();
  await page.locator(".why").waitFor();

  // Records: aligned, differences marked within strings, text never HTML, long text folded, images.
  const search = await ask(page, "/api/search?q=r000");
  await page.getByRole("button", { name: "Pick another record" }).click();
  await page.getByRole("searchbox").fill("r000");
  await page.getByRole("list", { name: "Records found" }).getByRole("button", { name: "r000" }).click();
  await until(async () => (await pair(page))[1] === "r000", "the picked record");
  const row = page.locator(".pair-table tbody tr", { hasText: "note" });
  assert.equal(search.records[0].id, "r000");
  assert.ok((await row.locator("td").nth(1).innerText()).includes("<b>"), "tags are shown as they are");
  assert.equal(await page.locator(".pair-table b, .pair-table script").count(), 0);
  assert.ok((await page.locator("mark.differs").count()) > 0);
  const folded = row.locator(".folded").last();
  const low = (await folded.boundingBox()).height;
  await page.getByRole("button", { name: "Show all of the long text" }).click();
  await until(async () => (await row.locator("td").nth(1).locator(".value").boundingBox()).height > 1.5 * low, "the text to unfold");
  await page.locator(".pair-table tbody tr").getByRole("rowheader", { name: "y", exact: true }).waitFor(); // a column that --fields left out
  await page.getByRole("button", { name: "Enlarge photo of r000" }).click();
  await page.getByRole("dialog", { name: "photo of r000" }).waitFor();
  await page.getByRole("button", { name: "Close" }).click();

  // Guidelines are written on the page.
  const pane = page.getByRole("region", { name: "Guidelines" });
  if (!(await pane.isVisible())) await page.getByRole("button", { name: "Guidelines" }).click();
  await pane.getByRole("button", { name: "Edit" }).click();
  await page.getByRole("textbox", { name: "Guidelines" }).fill("Same place, same cluster.\n<i>Always.</i>");
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("<i>Always.</i>").waitFor();
  quiet(page, address);
}
