// Of records: once enough is known the page says so; who goes on anyway is asked again, and so is everybody else.
import assert from "node:assert/strict";
import { asked, open, pair, quiet, send, until, written } from "../harness.mjs";

const person = (id) => id.split("-")[0]; // ids are p12-3: who it is about, and a number

export default async function ({ browser, address, handOf }) {
  const page = await open(browser, address, { name: "Gil" });
  const hand = handOf(page);
  await asked(page);

  // Rather many answers, so they are given as the page does but without looking at each.
  let answers = 0;
  const enough = await until(async () => {
    const { question, done, early } = (await send(page, "/api/question")).said;
    if (done !== null) return { done, early };
    if (question === null) return null; // it is being planned
    const [one, other] = question.records.map((record) => person(record.id));
    const { status } = await send(page, "/api/answer", { question: question.id, rows: question.rows, answer: one === other ? "same" : "different" });
    assert.equal(status, 200);
    assert.ok(++answers < 150, "it never was enough");
    return null;
  }, "enough to be known");
  assert.ok(enough.early && answers >= 20, JSON.stringify({ ...enough, answers }));

  const told = page.getByRole("status").filter({ has: page.getByRole("heading", { name: "Enough is known" }) });
  const other = await open(browser, address, { name: "Eve" });
  await page.reload();
  for (const each of [page, other]) await each.getByRole("heading", { name: "Enough is known" }).waitFor();
  assert.match(await told.innerText(), /By estimate [\d.]+% of the records that belong together are together\./);
  await hand.press(told.getByRole("button", { name: "Go on anyway" }));
  const shown = await asked(page);
  const word = person(shown[0]) === person(shown[1]) ? "Same" : "Different";
  await written(page, "answer", () => hand.press(page.getByRole("button", { name: word, exact: true })), { hand });
  await until(async () => String(await pair(page)) !== String(shown), "the question after that");
  assert.equal(await told.count(), 0);
  await asked(other); // whose page hears that there was an answer, and asks again
  for (const each of [page, other]) quiet(each, address);
}
