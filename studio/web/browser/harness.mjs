// What every scenario needs: a browser that reports complaints and requests, and patience.
// Nothing here waits for a time: every wait is for something that can be seen.
import assert from "node:assert/strict";
import { chromium } from "playwright-core";

const FLAGS = [
  "--no-sandbox", "--disable-quic", "--no-first-run", "--disable-background-networking",
  "--disable-component-update", "--disable-sync", "--use-angle=swiftshader", "--enable-unsafe-swiftshader",
];

/** Seconds before something is taken to be broken, on however loaded a machine. */
const PATIENCE = Number(process.env.COTERIE_PATIENCE) || 90;

export async function launch(executablePath) {
  return chromium.launch({ executablePath, args: FLAGS, timeout: 120_000 });
}

/** A page of its own person, which remembers what the browser complained about and asked for. */
export async function open(browser, address, { width = 1280, height = 800, scheme = "light", hash = "answer", name = null, query = "" } = {}) {
  const context = await browser.newContext({ viewport: { width, height }, colorScheme: scheme, acceptDownloads: true });
  context.setDefaultTimeout(PATIENCE * 1000);
  const page = await context.newPage();
  page.complaints = [];
  page.asked = [];
  page.underway = new Set();
  page.on("console", (message) => ["error", "warning"].includes(message.type()) && page.complaints.push(message.text()));
  page.on("pageerror", (error) => page.complaints.push(String(error)));
  page.on("request", (request) => {
    page.asked.push(request.url());
    if (!request.url().endsWith("/api/events")) page.underway.add(request);
  });
  for (const end of ["requestfinished", "requestfailed"]) page.on(end, (request) => page.underway.delete(request));
  await page.goto(address); // signs in, and goes to /
  if (query) await page.goto(new URL(`/${query}`, address).href);
  await goTo(page, hash);
  if (name) await rename(page, name);
  return page;
}

export async function goTo(page, hash) {
  await page.evaluate((to) => (location.hash = `/${to}`), hash);
  await page.locator(`main[data-page="${hash}"] h1`).waitFor();
}

export async function rename(page, name) {
  await page.getByRole("button", { name: /change your name/ }).click();
  await page.getByRole("textbox", { name: "Your name" }).fill(name);
  await page.keyboard.press("Enter");
  await page.getByRole("button", { name: `You are ${name};` }).waitFor();
  await page.getByRole("dialog").waitFor({ state: "detached" });
}

/** Waits until `test` gives something true. */
export async function until(test, what, seconds = PATIENCE) {
  const end = Date.now() + seconds * 1000;
  let last;
  while (Date.now() < end) {
    last = await test();
    if (last) return last;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  assert.fail(`waited ${seconds} s for ${what}; last: ${JSON.stringify(last)}`);
}

/** Nothing is being written. */
export async function free(page) {
  await page.locator('main[aria-busy="false"]').waitFor();
}

/** Nothing is under way either: what is on screen stays, unless somebody else does something. */
export async function calm(page) {
  let quiet = 0; // a reply may lead to the next request
  await until(async () => {
    const moving = page.underway.size > 0 || (await page.locator('[aria-busy="true"]').count()) > 0;
    quiet = moving ? 0 : quiet + 1;
    return quiet >= 3;
  }, "the page to be calm");
}

/** The counts on screen: {same, different, unsure, later}. */
export async function counts(page) {
  const text = await page.getByLabel("Answers so far").innerText();
  return Object.fromEntries([...text.matchAll(/([\d,]+)\s+(same|different|unsure|later)/g)].map(([, n, word]) => [word, Number(n.replace(",", ""))]));
}

/** Ids of the pair on screen. */
export async function pair(page) {
  return (await page.locator(".pair-table thead th").allInnerTexts()).slice(1);
}

/** The same, once it is the one that will be answered. */
export async function asked(page) {
  await free(page);
  await page.locator('.answering[aria-busy="false"] .pair-table').waitFor();
  return pair(page);
}

/** What a call of the page's own API says. */
export async function ask(page, path) {
  return page.evaluate(async (to) => (await fetch(to)).json(), path);
}

/** A call that changes something, sent as the page does; its status and what it says. */
export async function send(page, path, body = {}) {
  return page.evaluate(async ([to, content]) => {
    const sent = { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ key: crypto.randomUUID(), ...content }) };
    const reply = await fetch(to, sent);
    return { status: reply.status, said: await reply.json() };
  }, [path, body]);
}

/** Some true answers of the person: rows belong together whose numbers are equal modulo 6. */
export async function teach(page, answers) {
  for (let n = 0; n < answers; n++) {
    // While questions are being planned there may be none for a moment.
    const { id, rows } = await until(async () => (await send(page, "/api/question")).said.question, "a question");
    const { status } = await send(page, "/api/answer", { question: id, rows, answer: rows[0] % 6 === rows[1] % 6 ? "same" : "different" });
    assert.equal(status, 200);
  }
}

/** Does something that writes; what was sent, once it is on the disk. A contradiction is kept, or forgotten. */
export async function written(page, call, act, { clash = "Keep both", hand = mouse(page) } = {}) {
  const replied = () => page.waitForResponse((response) => response.url().endsWith(`/api/${call}`) && response.request().method() === "POST");
  const [response] = await Promise.all([replied(), act()]);
  const body = response.request().postDataJSON();
  if (response.status() === 409) {
    assert.equal((await response.json()).error.kind, "ContradictoryAnswer");
    const again = clash === "Keep both" ? replied() : null;
    await hand.press(page.getByRole("button", { name: clash }));
    if (again) assert.equal((await again).status(), 200);
    await page.getByRole("dialog").waitFor({ state: "detached" });
  } else {
    assert.equal(response.status(), 200, `${call}: ${await response.text()}`);
  }
  await free(page);
  return body;
}

/** The clusters shown are those of all answers so far, on the server and on the page. */
export async function settled(page) {
  const version = await until(async () => {
    const { fit } = await ask(page, "/api/state");
    if (fit && !fit.running && fit.behind > 0) await send(page, "/api/refit");
    return fit && !fit.running && fit.behind === 0 && fit.version;
  }, "the fit to catch up");
  await until(async () => Number(await page.locator("main").getAttribute("data-version")) >= version, "the page to show it");
  await calm(page);
}

/** A person with a mouse; fields are written into after a click. */
export function mouse(page) {
  return {
    name: "mouse",
    press: (target) => target.click(),
    choose: (select, value) => select.selectOption(value),
    toggle: (box) => box.click(),
    async write(field, text) {
      await field.click();
      await field.fill("");
      await page.keyboard.type(text);
    },
    undo: () => page.getByRole("button", { name: "Undo", exact: true }).click(),
    visit: (name) => page.getByRole("navigation", { name: "Pages" }).getByRole("link", { name }).click(),
  };
}

/** A person who has only a keyboard: everything is reached by Tab. */
export function keyboard(page) {
  const reach = async (target) => {
    await target.waitFor();
    for (let step = 0; step < 400; step++) {
      if (await target.evaluate((element) => element === document.activeElement)) return;
      await page.keyboard.press("Tab");
    }
    assert.fail(`Tab does not reach ${target}`);
  };
  return {
    name: "keyboard",
    reach,
    async press(target) {
      await reach(target);
      await page.keyboard.press("Enter");
    },
    async choose(select, value) {
      await reach(select);
      const at = await select.evaluate((element, wanted) => {
        const values = [...element.options].map((option) => option.value);
        return values.indexOf(wanted) - element.selectedIndex;
      }, value);
      for (let step = 0; step < Math.abs(at); step++) await page.keyboard.press(at > 0 ? "ArrowDown" : "ArrowUp");
    },
    async toggle(box) {
      await reach(box);
      await page.keyboard.press("Space");
    },
    async write(field, text) {
      await reach(field);
      await page.keyboard.press("Control+a");
      await page.keyboard.type(text);
    },
    async undo() {
      await page.evaluate(() => document.activeElement?.blur()); // as Escape or a click beside it
      await page.keyboard.press("z");
    },
    async visit(name) {
      const link = page.getByRole("navigation", { name: "Pages" }).getByRole("link", { name });
      await reach(link);
      await page.keyboard.press("Enter");
    },
  };
}

export const HANDS = { mouse, keyboard };

/** No complaint, no request off the machine. */
export function quiet(page, address) {
  // The browser notes every refusal; that an answer contradicts others (409) is no fault of the page.
  assert.deepEqual(page.complaints.filter((text) => !text.includes("status of 409")), []);
  const origin = new URL(address).origin;
  const elsewhere = page.asked.filter((url) => !url.startsWith(`${origin}/`) && !url.startsWith("data:") && !url.startsWith("blob:"));
  assert.deepEqual(elsewhere, []);
  assert.ok(page.asked.length > 3, "the page asked for nothing at all");
}
