import assert from "node:assert/strict";
import { ask, goTo, open, quiet, rename, settled, teach, until, written } from "../harness.mjs";

/** All that can be said about a cluster; each is one step, taken back before the next. */
export default async function ({ browser, address, handOf }) {
  const page = await open(browser, address);
  const hand = handOf(page);
  await teach(page, 8); // somebody else
  await rename(page, "Cleo");
  await settled(page);
  await hand.visit("Clusters");
  const lines = page.getByRole("list", { name: "Clusters" }).getByRole("link");
  const { total, clusters } = await ask(page, "/api/clusters?sort=size");
  await until(async () => (await lines.count()) === Math.min(50, total), "all clusters");
  assert.ok(total >= 3);

  // Search, and open what is found.
  const [{ number, size }] = clusters;
  const line = page.locator(`a[href="#/clusters/${number}"]`);
  await hand.write(page.getByRole("searchbox"), String(number));
  await until(async () => (await ask(page, `/api/clusters?q=${number}`)).total === (await lines.count()), "only what matches");
  await hand.press(line);
  await page.locator(`main[data-page="clusters/${number}"]`).getByRole("region", { name: "Typical members" }).waitFor();
  assert.match(await page.locator("main").innerText(), new RegExp(`${size} rows`));

  /** Does it, takes it back, and waits until everything is as before. */
  const tried = async (act) => {
    const body = await written(page, "cluster", act, { hand });
    await until(async () => (await ask(page, "/api/state")).can_undo, "a step to undo");
    await until(async () => (await page.getByRole("button", { name: "Undo", exact: true }).getAttribute("aria-disabled")) === "false", "the page to know");
    await written(page, "undo", () => hand.undo());
    assert.equal((await ask(page, "/api/state")).can_undo, false);
    await settled(page);
    await goTo(page, "clusters");
    await goTo(page, `clusters/${number}`);
    await page.getByRole("region", { name: "Members" }).getByRole("checkbox").nth(3).waitFor();
    return body;
  };

  // An evil name is a name.
  const name = "<img src=x onerror=alert(1)> Northern";
  const named = await tried(async () => {
    await hand.write(page.getByRole("textbox", { name: "Name" }), name);
    await hand.press(page.getByRole("button", { name: "Save the name" }));
    await page.getByRole("heading", { level: 1, name: "Northern" }).waitFor();
  });
  assert.deepEqual([named.action, named.name], ["name", name]);
  assert.equal(await page.getByRole("heading", { level: 1, name: "Northern" }).count(), 0, "the name is undone");

  // Pin, split off and move members.
  const boxes = page.getByRole("region", { name: "Members" }).getByRole("checkbox");
  const pinned = await tried(async () => {
    await hand.toggle(boxes.first());
    await hand.press(page.getByRole("button", { name: "Pin" }));
  });
  assert.deepEqual([pinned.action, pinned.cluster], ["pin", number]);
  const split = await tried(async () => {
    await hand.toggle(boxes.nth(1));
    await hand.toggle(boxes.nth(2));
    await hand.press(page.getByRole("button", { name: "Split off" }));
  });
  assert.deepEqual([split.action, split.piles.length, split.piles[0].length], ["split", 1, 2]);
  const choose = async () => hand.press(page.getByRole("dialog").getByRole("list", { name: "Clusters found" }).getByRole("button").first());
  const moved = await tried(async () => {
    await hand.toggle(boxes.nth(2));
    await hand.press(page.getByRole("button", { name: "Move…" }));
    await choose();
  });
  assert.equal(moved.action, "move");
  assert.notEqual(moved.cluster, number);

  // The whole cluster: merged with another, or none at all.
  const merged = await tried(async () => {
    await hand.press(page.getByRole("button", { name: "Merge with…" }));
    await choose();
  });
  assert.deepEqual([merged.action, merged.a], ["merge", number]);
  const rejected = await tried(() => hand.press(page.getByRole("button", { name: "These do not belong together" })));
  assert.deepEqual([rejected.action, rejected.cluster], ["reject", number]);
  quiet(page, address);
}
