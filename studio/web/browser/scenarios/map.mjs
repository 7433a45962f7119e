import assert from "node:assert/strict";
import { ask, calm, open, quiet, settled, until, written } from "../harness.mjs";

async function selected(page) {
  const text = await page.getByRole("region", { name: "Selection" }).getByRole("heading").innerText();
  return Number(/^([\d,]+)/.exec(text)?.[1] ?? 0);
}

async function lasso(page, points) {
  const box = await page.locator("canvas.map-canvas").boundingBox();
  const at = ([x, y]) => [box.x + x * box.width, box.y + y * box.height];
  await page.mouse.move(...at(points[0]));
  await page.mouse.down();
  for (const point of points.slice(1)) await page.mouse.move(...at(point), { steps: 6 });
  await page.mouse.up();
}

const ALL = [[0.02, 0.02], [0.98, 0.02], [0.98, 0.97], [0.02, 0.97]];

/** How many strong colours a picture of the canvas has. */
async function colours(page, canvas) {
  const picture = (await canvas.screenshot()).toString("base64");
  return page.evaluate(async (png) => {
    const image = Object.assign(new Image(), { src: `data:image/png;base64,${png}` });
    await image.decode();
    const copy = Object.assign(document.createElement("canvas"), { width: image.width, height: image.height });
    copy.getContext("2d").drawImage(image, 0, 0, image.width - 60, image.height, 0, 0, image.width, image.height); // without the buttons
    const { data } = copy.getContext("2d").getImageData(0, 0, copy.width, copy.height);
    const seen = new Set();
    for (let i = 0; i < data.length; i += 4) if (Math.max(data[i], data[i + 1], data[i + 2]) - Math.min(data[i], data[i + 1], data[i + 2]) > 80) seen.add(`${data[i] >> 5} ${data[i + 1] >> 5} ${data[i + 2] >> 5}`);
    return seen.size;
  }, picture);
}

/** Where a point of the layout is on the screen, when all is shown. */
async function placeOf(page, canvas, at) {
  const points = await page.evaluate(async () => Array.from(new Float32Array(await (await fetch("/api/map/points?layout=pca")).arrayBuffer())));
  const box = await canvas.boundingBox();
  const unit = (0.92 * Math.min(box.width, box.height)) / 2;
  return { box, x: box.x + box.width / 2 + points[2 * at] * unit, y: box.y + box.height / 2 - points[2 * at + 1] * unit };
}

/** Around some points by the lasso, or the points in the ring by Enter. */
async function selectSome(page, canvas, hand) {
  if (hand.name === "mouse") {
    const { box, x, y } = await placeOf(page, canvas, 0);
    await lasso(page, [[-9, -9], [9, -9], [9, 9], [-9, 9]].map(([dx, dy]) => [(x + dx - box.x) / box.width, (y + dy - box.y) / box.height]));
  } else {
    await hand.reach(canvas);
    for (const key of ["0", "-", "-", "-", "-", "-", "-", "Enter"]) await page.keyboard.press(key);
  }
  await until(async () => (await selected(page)) > 0, "points to be selected");
}

/** Both renderers draw the rows; in both everything can be done. */
export default async function ({ browser, address, handOf }) {
  for (const kind of ["webgl", "canvas"]) {
    const page = await open(browser, address, { hash: "map", query: `?renderer=${kind}`, name: "Mia" });
    const hand = handOf(page);
    const canvas = page.locator(`canvas.map-canvas[data-renderer=${kind}]`);
    await canvas.waitFor();
    await settled(page);
    await until(async () => Number(await canvas.getAttribute("data-frames")) > 0, "a frame");
    const { n } = await ask(page, "/api/map");
    await until(async () => (await colours(page, canvas)) >= 3, `${kind} to draw three colours`);

    // All points: by the lasso, or far away in the ring; then none.
    if (hand.name === "mouse") {
      await lasso(page, ALL);
      await until(async () => (await selected(page)) === n, `all ${n} points to be selected`);
    } else {
      await selectSome(page, canvas, hand);
    }
    await hand.press(page.getByRole("button", { name: "Clear the selection" }));
    await until(async () => (await selected(page)) === 0, "nothing to be selected");

    // A point shows its record: under the pointer, or in the middle by the space bar.
    if (hand.name === "mouse") {
      const { x, y } = await placeOf(page, canvas, 0);
      await page.mouse.move(x, y);
    } else {
      await page.evaluate(() => document.activeElement?.blur());
      await hand.reach(canvas);
      await page.keyboard.press("0");
      for (let step = 0; step < 6; step++) await page.keyboard.press("-");
      await page.keyboard.press("Space");
    }
    await page.locator(".hover-card .record-id").waitFor();

    // The view, the layout and the lines.
    if (hand.name === "mouse") for (const name of ["Nearer", "Farther", "Show all"]) await page.getByRole("button", { name, exact: true }).click();
    else for (const key of ["+", "ArrowLeft", "ArrowUp", "0"]) await page.keyboard.press(key);
    await hand.toggle(page.getByRole("checkbox", { name: /Answers as lines/ }));
    await hand.choose(page.getByLabel("Layout"), "tsne");
    await until(async () => (await ask(page, "/api/map")).layouts.find(({ name }) => name === "tsne").state === "ready", "t-SNE to be worked out");
    await calm(page);
    await hand.choose(page.getByLabel("Layout"), "pca");
    await calm(page);

    // A cluster of the legend is selected by its name.
    await hand.press(page.getByRole("region", { name: "Clusters by size" }).getByRole("button").first());
    const { clusters } = await ask(page, "/api/clusters?sort=size&limit=1");
    await until(async () => (await selected(page)) === clusters[0].size, "the largest cluster to be selected");

    // Say something about a selection; each is one step.
    for (const [name, action] of [["None of these belongs to…", "keep_out"], ["Move to…", "move"], ["These belong together", "together"]]) {
      const clear = page.getByRole("button", { name: "Clear the selection" });
      if (action === "together") {
        await hand.press(page.getByRole("region", { name: "Clusters by size" }).getByRole("button").first()); // some rows, in one cluster
      } else {
        if ((await selected(page)) > 0) await hand.press(clear);
        await selectSome(page, canvas, hand);
      }
      const said = await written(page, "cluster", async () => {
        await hand.press(page.getByRole("button", { name }));
        if (action !== "together") await hand.press(page.getByRole("list", { name: "Clusters found" }).getByRole("button").first());
      }, { clash: "Forget my answer", hand });
      assert.equal(said.action, action);
      assert.ok(said.rows.length > 0);
      if ((await ask(page, "/api/state")).can_undo) await written(page, "undo", () => hand.undo());
      await settled(page);
    }
    quiet(page, address);
    await page.context().close();
  }
}
