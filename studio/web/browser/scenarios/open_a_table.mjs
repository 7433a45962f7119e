import assert from "node:assert/strict";
import { ask, calm, open, quiet, until } from "../harness.mjs";

const CSV = ["id,name,x,y,colour", ...Array.from({ length: 24 }, (_, i) => `n${i},Name ${i},${(i % 2) * 9 + (i % 5) / 5},${i % 3},${i % 2 ? "red" : "blue"}`)].join("\n");

/** From a file of this computer to the first question, on the page alone. */
export default async function ({ browser, address }) {
  const page = await open(browser, address, { hash: "open" });
  await page.getByLabel("A table from this computer").setInputFiles({ name: "small.csv", mimeType: "text/csv", buffer: Buffer.from(CSV) });
  await page.getByRole("region", { name: "Columns", exact: true }).waitFor();
  await until(async () => (await page.getByRole("combobox", { name: "Rows are named by", exact: true }).inputValue()) === "id", "the id to be guessed");
  for (const name of ["name", "colour"]) {
    await calm(page); // every choice is looked at by the server
    await page.getByLabel(`Use of ${name}`).selectOption("ignore");
    await until(async () => (await page.getByLabel(`Use of ${name}`).inputValue()) === "ignore", `${name} not to be used`);
  }
  await calm(page);
  await page.getByRole("radio", { name: /^The rows form clusters/ }).check();
  await calm(page);
  await page.getByRole("radio", { name: "this many:" }).check();
  await page.getByLabel("How many clusters").fill("2");
  await page.getByRole("button", { name: "Open 24 rows" }).click();
  await until(async () => (await ask(page, "/api/state")).phase === "ready", "the table to be open", 120);
  await page.getByRole("heading", { name: "Do these two belong together?" }).waitFor();
  const { data } = await ask(page, "/api/state");
  assert.deepEqual([data.n_rows, data.clusters, data.id_column], [24, 2, "id"]);
  quiet(page, address);
}
