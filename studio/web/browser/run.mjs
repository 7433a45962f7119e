// node browser/run.mjs SCENARIO[:HAND] ADDRESS CHROMIUM: exit code 0 if the scenario holds.
import { HANDS, launch } from "./harness.mjs";

const [which, address, executable = "/usr/bin/chromium"] = process.argv.slice(2);
const [name, hand] = which.split(":");
const { default: scenario } = await import(`./scenarios/${name}.mjs`);
const browser = await launch(executable);
try {
  await scenario({ browser, address, handOf: hand && HANDS[hand] });
} catch (error) {
  console.error(error);
  for (const context of browser.contexts()) {
    for (const page of context.pages()) {
      if (page.complaints?.length) console.error("complaints:", page.complaints);
      if (page.underway?.size) console.error("under way:", [...page.underway].map((request) => request.url()));
      if (process.env.COTERIE_SHOT) await page.screenshot({ path: process.env.COTERIE_SHOT });
    }
  }
  process.exitCode = 1;
} finally {
  await browser.close();
}
