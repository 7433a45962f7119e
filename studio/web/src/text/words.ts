import type { Word } from "../api/types";

/** 12,345 with thin spaces, as a person reads it. */
export function count(n: number): string {
  return n.toLocaleString("en-GB");
}

export function plural(n: number, one: string, many = `${one}s`): string {
  return `${count(n)} ${n === 1 ? one : many}`;
}

export function percent(share: number): string {
  const value = share * 100;
  return `${value > 0 && value < 10 ? value.toFixed(1) : value.toFixed(0)}%`;
}

/** Words of the library, as a sentence of the page. */
export function sentence(words: string): string {
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}${/[.!?…]$/.test(words) ? "" : "."}`;
}

/** Day and minute in the reader's own time zone. */
export function moment(iso: string): string {
  const date = new Date(iso);
  if (Number.isNaN(date.getTime())) return iso;
  return date.toLocaleString("en-GB", { day: "numeric", month: "short", hour: "2-digit", minute: "2-digit" });
}

export function size(bytes: number): string {
  const units = ["B", "KB", "MB", "GB"];
  const step = Math.min(units.length - 1, Math.floor(Math.log10(Math.max(1, bytes)) / 3));
  return `${(bytes / 1000 ** step).toFixed(step && bytes / 1000 ** step < 10 ? 1 : 0)} ${units[step]!}`;
}

export function clusterName(cluster: { number: number; name: string | null }): string {
  return cluster.name ?? `Cluster ${cluster.number}`;
}

/** Phases of the library that are no question of a strategy. */
const TOLD: Readonly<Record<string, string>> = {
  known: "known before",
  volunteered: "told unasked",
  set: "sorted",
  overlap: "asked twice",
  check: "asked to check",
  again: "put off before",
  merge: "clusters merged",
  split: "cluster split",
  move: "moved",
  pin: "pinned",
  reject: "kept out of a cluster",
};
/** How an answer came about, in words. */
export function how(phase: string): string {
  return TOLD[phase] ?? "asked";
}

/** "unknown" is the library's word; people say unsure. */
export const WORDS: Readonly<Record<Word, string>> = {
  same: "Same",
  different: "Different",
  unknown: "Unsure",
  later: "Later",
};
