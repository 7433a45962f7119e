import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { ask, asked, calm, goTo, open, quiet, rename, send, settled, teach, until } from "../harness.mjs";

/** Elements, attributes and scripts that only markup in data could have made. */
function foreign() {
  const made = document.querySelectorAll("x-evil, base, iframe, object, embed, [href^='javascript:' i], [src^='x']");
  const handlers = [...document.querySelectorAll("*")].filter((element) => [...element.attributes].some(({ name }) => name.startsWith("on")));
  const scripts = [...document.scripts].filter((script) => !script.src.startsWith(location.origin));
  return [globalThis.evil ?? null, ...[...made, ...handlers, ...scripts].map((element) => element.outerHTML.slice(0, 200))];
}

/** Everything that the page says: its texts, and attributes that are read out or written in. */
function said() {
  const attributes = ["aria-label", "title", "alt", "placeholder", "value"];
  const inside = [...document.querySelectorAll("*")].flatMap((element) => [...attributes.map((name) => element.getAttribute(name)), element.value]);
  return [document.title, document.body.textContent, ...inside.filter((text) => typeof text === "string")].join("\n");
}

/** Markup, quotes and script in every text that somebody else may have written stay text, on every page. */
export default async function ({ browser, address }) {
  const person = `<x-evil></x-evil>"Eve`;
  const page = await open(browser, address, { name: person });
  const look = async (where, ...texts) => {
    await calm(page);
    assert.deepEqual(await page.evaluate(foreign), [null], where);
    const shown = await page.evaluate(said);
    for (const text of texts) assert.ok(shown.includes(text), `${where} does not show ${text} as it was written`);
  };
  const { data } = await ask(page, "/api/state");
  const [id] = await asked(page);
  const [{ fields }] = (await ask(page, `/api/records?rows=0`)).records ?? [{ fields: {} }];
  const evil = (text) => text.includes("x-evil") || text.includes("evil=1");
  assert.ok(evil(id) && evil(data.name ?? data.file ?? ""), `${id} of ${JSON.stringify(data)}`);
  await look("a question", id, ...Object.keys(fields ?? {}).filter(evil).slice(0, 2));
  await page.getByRole("button", { name: "Why this question" }).click();
  await page.locator(".why").waitFor();
  await look("why it is asked");

  // What people write: guidelines, answers, names of clusters.
  const rules = `<x-evil></x-evil><script>globalThis.evil=1</script>`;
  assert.equal((await send(page, "/api/guidelines", { text: rules })).status, 200);
  await teach(page, 6);
  for (const [rows, answer] of [[[0, 6], "same"], [[6, 12], "same"], [[0, 12], "different"]]) {
    assert.equal((await send(page, "/api/answer", { question: null, rows, answer, despite_clash: true })).status, 200);
  }
  await settled(page);
  const { clusters } = await ask(page, "/api/clusters?sort=size");
  const name = `</script><x-evil></x-evil>"'><img src=x onerror=globalThis.evil=1>`;
  const [{ number }] = clusters;
  assert.equal((await send(page, "/api/cluster", { action: "name", cluster: number, name })).status, 200);
  await page.reload();
  await goTo(page, "answer");
  await asked(page);
  await look("guidelines", rules, person);

  const pages = { sort: [], map: [name], clusters: [name], [`clusters/${number}`]: [name], doubts: [], history: [person], result: [], open: [] };
  for (const [hash, texts] of Object.entries(pages)) {
    await goTo(page, hash);
    await until(async () => (await page.locator("main").innerText()).length > 20, hash);
    await look(hash, ...texts);
    await page.evaluate(() => document.querySelectorAll("details").forEach((details) => (details.open = true)));
    await look(`${hash}, unfolded`);
  }
  await goTo(page, "clusters");
  await page.getByRole("searchbox").fill("<x-evil>");
  await look("a search", "<x-evil>");
  await rename(page, `'"><x-evil>`);
  await look("another name");

  // The report, as a file of its own and without the studio's policy against scripts.
  await goTo(page, "result");
  const link = page.getByRole("region", { name: "Export" }).getByRole("link", { name: /html/ });
  const [download] = await Promise.all([page.waitForEvent("download"), link.click()]);
  const file = await download.path();
  assert.ok((await readFile(file, "utf8")).includes("&lt;x-evil&gt;"));
  const report = await page.context().newPage();
  const complaints = [];
  report.on("console", (message) => complaints.push(message.text()));
  report.on("pageerror", (error) => complaints.push(String(error)));
  report.on("request", (request) => request.url().startsWith("file:") || complaints.push(request.url()));
  await report.setContent(await readFile(file, "utf8"));
  assert.deepEqual(await report.evaluate(foreign), [null]);
  assert.ok((await report.evaluate(said)).includes("<x-evil>"));
  assert.deepEqual(complaints, []);
  // A cell that names a picture elsewhere is asked for from the studio alone, which has none.
  page.complaints = page.complaints.filter((text) => !text.includes("status of 404"));
  quiet(page, address);
}
