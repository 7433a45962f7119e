import { readFileSync } from "node:fs";
import type { Plugin } from "vite";
import { defineConfig } from "vitest/config";

/** index.html beside the bundle, pointing at its hashed files. */
function page(): Plugin {
  return {
    name: "coterie-page",
    apply: "build",
    enforce: "post", // after the style sheet has its name
    generateBundle(_, bundle) {
      const named = (end: string): string => `./${Object.keys(bundle).find((name) => name.endsWith(end))!}`;
      const html = readFileSync("index.html", "utf8")
        .replace("./src/studio.ts", named(".js"))
        .replace("</head>", `  <link rel="stylesheet" href="${named(".css")}" />\n  </head>`);
      this.emitFile({ type: "asset", fileName: "index.html", source: html });
    },
  };
}

// The entry is the module, not the page: so its export (`render`, for anywidget) is kept, and one
// file serves both.
export default defineConfig({
  base: "./",
  plugins: [page()],
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
  build: {
    outDir: "../../src/coterie/studio/static",
    emptyOutDir: true,
    target: "es2022",
    cssCodeSplit: false,
    modulePreload: { polyfill: false },
    rolldownOptions: { input: { studio: "src/studio.ts" }, preserveEntrySignatures: "strict" },
  },
  test: { environment: "happy-dom", include: ["tests/**/*.test.{ts,tsx}"] },
});
