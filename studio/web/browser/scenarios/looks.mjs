import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { ask, calm, goTo, open, quiet, settled, until } from "../harness.mjs";

const AXE = await readFile(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** Every page at every width, light and dark: nothing sideways, no complaint, axe finds nothing. */
export default async function ({ browser, address }) {
  for (const scheme of ["light", "dark"]) {
    for (const width of [1280, 820, 400]) {
      const page = await open(browser, address, { width, height: 900, scheme });
      await settled(page);
      const [first] = (await ask(page, "/api/clusters?sort=size&limit=1")).clusters;
      await page.evaluate(AXE);
      for (const hash of ["answer", "sort", "map", "clusters", `clusters/${first.number}`, "doubts", "history", "result", "open"]) {
        await goTo(page, hash);
        await until(async () => (await page.locator("main").innerText()).length > 20, hash);
        await calm(page);
        const where = `${hash} at ${width} px, ${scheme}`;
        assert.ok((await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)) <= 0, `${where} scrolls sideways`);
        if ((scheme === "dark") !== (width === 400) || width === 820) continue; // axe: light when wide, dark when narrow
        const { violations } = await page.evaluate(() => globalThis.axe.run(document, { resultTypes: ["violations"] }));
        assert.deepEqual(violations.map(({ id, nodes }) => [id, nodes.map(({ html, failureSummary }) => [html.slice(0, 160), failureSummary])]), [], where);
      }
      const ground = await page.evaluate(() => getComputedStyle(document.querySelector(".coterie")).backgroundColor);
      assert.equal(ground, scheme === "dark" ? "rgb(21, 24, 29)" : "rgb(255, 255, 255)");
      quiet(page, address);
      await page.context().close();
    }
  }
}
