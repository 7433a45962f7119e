// session.widget() and model.map() in JupyterLab (an address of /lab/) or marimo, by keyboard and by mouse.
import assert from "node:assert/strict";
import { until } from "../harness.mjs";

export default async function ({ browser, address }) {
  const inLab = address.includes("/lab/");
  const shot = process.env.COTERIE_SHOTS;
  for (const colorScheme of ["light", "dark"]) {
    const context = await browser.newContext({ viewport: { width: 1200, height: 1000 }, colorScheme });
    context.setDefaultTimeout(120_000);
    const page = await context.newPage();
    page.complaints = [];
    page.on("pageerror", (error) => page.complaints.push(String(error)));
    await page.goto(address);
    if (inLab) await runAll(page);
    const widget = page.locator(".coterie-widget").first();
    await widget.locator(".pair-table").waitFor();
    const told = async () => (await widget.getByLabel("Answers so far").innerText()).replace(/\s+/g, " ");
    const before = await told();

    // By key: outside of the widget they are the notebook's, inside only the widget's.
    await widget.getByRole("heading", { name: "Do these two belong together?" }).click();
    await free(widget);
    await page.keyboard.press("d");
    await until(async () => (await told()) !== before, "the answer by key");
    if (inLab) assert.equal(await page.locator(".jp-CodeCell").count(), 3, "no cell was deleted");
    const one = await told();
    await free(widget);
    await widget.getByRole("button", { name: "Same", exact: true }).click();
    await until(async () => (await told()) !== one, "the answer by mouse");
    await free(widget);
    await page.keyboard.press("x"); // no key of ours; JupyterLab would cut the cell
    await page.keyboard.press("z");
    await until(async () => (await told()) === one, "the undo");
    if (inLab) assert.equal(await page.locator(".jp-CodeCell").count(), 3, "no cell was cut while a button had the focus");
    if (shot) await page.screenshot({ path: `${shot}-answer-${colorScheme}.png` });

    await widget.getByRole("button", { name: "Map", exact: true }).click();
    await widget.locator("canvas").first().waitFor();
    await until(async () => !(await widget.innerText()).includes("One moment"), "the map");
    const map = page.locator(".coterie-widget").nth(1);
    await map.scrollIntoViewIfNeeded();
    await map.locator("canvas").first().waitFor();
    for (const each of [widget, map]) assert.ok(await each.getByRole("radio", { name: "selects" }).isChecked(), "each widget has its own choice");
    assert.equal(await map.getByRole("button", { name: "Same", exact: true }).count(), 0, "a model's map only shows");
    if (shot) {
      await page.waitForTimeout(1500); // for whoever looks at the picture; nothing depends on it
      await page.screenshot({ path: `${shot}-map-${colorScheme}.png` });
    }
    assert.deepEqual(page.complaints, []);
    await context.close();
  }
}

async function free(widget) {
  await widget.locator('.answering[aria-busy="false"] .pair-table').waitFor();
}

async function runAll(page) {
  await page.locator(".jp-Notebook").waitFor();
  await page.getByText("Python 3 (ipykernel) | Idle").waitFor(); // before, it would ask which kernel to start
  await page.getByText("Run", { exact: true }).first().click();
  await page.getByText("Run All Cells", { exact: true }).click();
}
