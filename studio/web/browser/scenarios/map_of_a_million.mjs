import assert from "node:assert/strict";
import { open, quiet, until } from "../harness.mjs";

const N = 1_000_000;
const CLUSTERS = 12;
const HELD = 300_000; // points after these wait until somebody has used the map without them

/** Bytes of a stretch of points: clusters on a ring, each row in the cluster of its number modulo 12. */
function stretch(path, start, stop) {
  const n = stop - start;
  if (path.endsWith("/order")) return Buffer.from(Uint32Array.from({ length: n }, (_, i) => start + i).buffer);
  if (path.endsWith("/labels")) return Buffer.from(Uint16Array.from({ length: n }, (_, i) => (start + i) % CLUSTERS).buffer);
  const places = new Float32Array(2 * n);
  for (let i = 0; i < n; i++) {
    const angle = (2 * Math.PI * ((start + i) % CLUSTERS)) / CLUSTERS;
    places[2 * i] = 0.75 * Math.cos(angle) + 0.2 * (Math.random() - 0.5);
    places[2 * i + 1] = 0.75 * Math.sin(angle) + 0.2 * (Math.random() - 0.5);
  }
  return Buffer.from(places.buffer);
}

/** A million points are drawn as they arrive, the map can be used meanwhile, and while it moves a sample of them does. */
export default async function ({ browser, address }) {
  const page = await open(browser, address);
  let begin, release;
  const begun = new Promise((resolve) => (begin = resolve));
  const used = new Promise((resolve) => (release = resolve));
  await page.route("**/api/map", async (route) => {
    const reply = await route.fetch();
    await route.fulfill({ json: { ...(await reply.json()), n: N, n_clusters: CLUSTERS, numbers: Array.from({ length: CLUSTERS }, (_, i) => i) } });
  });
  await page.route(/\/api\/map\/(points|order|labels)/, async (route) => {
    const url = new URL(route.request().url());
    const [start, stop] = ["start", "stop"].map((name) => Number(url.searchParams.get(name)));
    await (start >= HELD ? used : begun);
    await route.fulfill({ body: stretch(url.pathname, start, stop), contentType: "application/octet-stream", headers: { "X-Type": "uint16" } });
  });
  await page.evaluate(() => (location.hash = "/map"));
  const canvas = page.locator("canvas.map-canvas");

  // A cluster that is chosen before any point is there is selected as its points arrive.
  const legend = page.getByRole("region", { name: "Clusters by size" }).getByRole("button");
  await legend.first().click();
  await page.getByText("Fetching the points…").waitFor();
  begin();
  await page.getByText("300,000 of 1,000,000 points").waitFor();
  await page.getByRole("heading", { name: "25,000 points selected" }).waitFor();
  await page.getByRole("button", { name: "Clear the selection" }).click();
  await page.getByRole("heading", { name: "Nothing selected" }).waitFor();
  const frames = async () => Number(await canvas.getAttribute("data-frames"));
  const drawn = async () => Number(await canvas.getAttribute("data-drawn"));
  await until(async () => (await drawn()) === HELD, "what has arrived to be drawn");

  // Before the rest is there: nearer, and some points selected.
  const before = await frames();
  await canvas.focus();
  await page.keyboard.press("+");
  await until(async () => (await frames()) > before, "a frame of the map that was moved");
  await legend.nth(1).click();
  await page.getByRole("heading", { name: "25,000 points selected" }).waitFor();
  release();
  await page.getByText("1,000,000 points").waitFor({ state: "detached" });
  await until(async () => (await drawn()) === N, "all points to be drawn");
  await page.getByRole("heading", { name: /^83,33[34] points selected$/ }).waitFor(); // what came later, too

  // While it moves a frame draws as many as it can, and at rest the others follow.
  const moved = await page.evaluate(async () => {
    const element = document.querySelector("canvas.map-canvas");
    const frame = () => new Promise((resolve) => requestAnimationFrame(resolve));
    const seen = [];
    for (let step = 0; step < 30; step++) {
      element.dispatchEvent(new KeyboardEvent("keydown", { key: step % 2 ? "ArrowLeft" : "ArrowRight", bubbles: true }));
      const begun = await frame();
      seen.push([(await frame()) - begun, Number(element.dataset.drawn)]);
    }
    return seen;
  });
  const times = moved.map(([milliseconds]) => milliseconds).sort((a, b) => a - b);
  const sampled = moved.filter(([, count]) => count < N).length;
  const kind = await canvas.getAttribute("data-renderer");
  console.log(`${kind}: ${moved.length} moves, ${sampled} of them with a sample; a frame every ${times[15].toFixed(0)} ms (median)`);
  assert.ok(sampled > 0 || times[15] < 34, "thirty frames a second, or points drawn progressively");
  await until(async () => (await drawn()) === N, "all points at rest");
  quiet(page, address);
}
