// node browser/pictures.mjs people|wines ADDRESS TRUTH FOLDER: the pictures of the README and the pages; see studio/pictures.py.
import { readFile } from "node:fs/promises";
import { ask, asked, calm, goTo, launch, open, rename, send, settled, until } from "./harness.mjs";

const [which, address, truthFile, folder] = process.argv.slice(2);
const truth = JSON.parse(await readFile(truthFile, "utf8"));
const browser = await launch("/usr/bin/chromium");
const SIZE = { width: 1180, height: 720 };

async function teach(page, answers) {
  for (let n = 0; n < answers; n++) {
    const question = await until(async () => (await send(page, "/api/question")).said.question, "a question");
    const [i, j] = question.rows;
    await send(page, "/api/answer", { question: question.id, rows: question.rows, answer: truth[i] === truth[j] ? "same" : "different", despite_clash: true });
  }
}

const shot = async (page, name) => {
  await calm(page);
  await page.screenshot({ path: `${folder}/studio-${name}.png` });
};

const pictures = {
  async people() {
    const page = await open(browser, address, { ...SIZE, height: 1000, hash: "open" });
    await rename(page, "Ann");
    await page.getByRole("button", { name: /^Open / }).waitFor();
    await page.getByRole("radio", { name: /^The rows are records/, checked: true }).waitFor();
    await page.mouse.move(600, 700);
    await shot(page, "open");
    await page.getByRole("button", { name: /^Open / }).click();
    await asked(page);
    await page.setViewportSize(SIZE);
    await send(page, "/api/guidelines", { text: "Two records are the same if they are about one person.\n\nSpelling mistakes and short forms of streets do not matter. A year of birth does." });
    await teach(page, 10);
    await settled(page);
    await page.reload();
    // Answered on until one comes that is not plain at once, and whose fields are mostly there.
    const count = (what) => page.locator(`.pair-table ${what}`).count();
    for (let tries = 0; tries < 60; tries++) {
      const [one, other] = (await asked(page)).map((id) => truth[Number(id.slice(1))]);
      const marks = await count("mark");
      if ((await count(".missing")) < 2 && marks > 1 && marks < 5) break;
      await page.keyboard.press(one === other ? "s" : "d");
      await until(async () => (await page.getByLabel("Answers so far").innerText()).includes(`${11 + tries} yours`), "the answer");
    }
    await settled(page);
    await shot(page, "answer");
  },
  async wines() {
    const page = await open(browser, address, { ...SIZE, hash: "answer", name: "Ann" });
    await until(async () => (await ask(page, "/api/state")).phase === "ready", "the table");
    await teach(page, 60);
    await settled(page);
    const { clusters } = await ask(page, "/api/clusters");
    const names = new Map();
    for (const { number } of clusters) {
      const facts = await ask(page, `/api/clusters/${number}`);
      const words = facts.stands_out.map((fact) => fact.words).join();
      names.set(number, words.includes("low hue") ? "Dark, low hue" : words.includes("high proline") ? "Strong, much proline" : "Light and pale");
      await send(page, "/api/cluster", { action: "name", cluster: number, name: names.get(number) });
    }
    await settled(page);
    const dark = [...names].find(([, name]) => name === "Dark, low hue")[0];
    await goTo(page, `clusters/${dark}`);
    await page.mouse.move(5, 5);
    await shot(page, "cluster");
    await goTo(page, "map");
    await page.getByRole("region", { name: "Clusters by size" }).getByRole("button", { name: "Dark, low hue" }).click();
    await page.getByRole("heading", { name: "points selected" }).waitFor();
    await page.mouse.move(5, 5);
    await shot(page, "map");
  },
};

try {
  await pictures[which]();
} finally {
  await browser.close();
}
