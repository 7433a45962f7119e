import { signal } from "@preact/signals";

/** The pages, in the order of the menu; the key of each is its place, 1 to 7. */
export const PAGES = [
  ["answer", "Answer"],
  ["sort", "Sort"],
  ["map", "Map"],
  ["clusters", "Clusters"],
  ["doubts", "Doubts"],
  ["history", "History"],
  ["result", "Result"],
] as const;

export type PageName = (typeof PAGES)[number][0] | "open";

export interface Route {
  readonly page: PageName;
  /** What follows: the number of a cluster. */
  readonly rest: string;
}

/** `#/clusters/3`: the page and what it is about; anything unknown is the first page. */
export function parseRoute(hash: string): Route {
  const [page = "", ...rest] = hash.replace(/^#\/?/, "").split("/");
  const known = page === "open" || PAGES.some(([name]) => name === page);
  return known ? { page: page as PageName, rest: rest.join("/") } : { page: "answer", rest: "" };
}

export const route = signal<Route>(parseRoute(globalThis.location.hash));

/** Follows the address until the returned function is called. */
export function followAddress(): () => void {
  const follow = (): void => {
    route.value = parseRoute(location.hash);
  };
  addEventListener("hashchange", follow);
  follow();
  return () => removeEventListener("hashchange", follow);
}

export function go(page: PageName, rest: string | number = ""): void {
  location.hash = rest === "" ? `/${page}` : `/${page}/${rest}`;
}
