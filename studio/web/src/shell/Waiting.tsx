import type { State } from "../api/types";

const WORDS: Partial<Record<State["phase"], string>> = {
  starting: "Starting",
  reading: "Reading the table",
  compiling: "Compiling, once on this machine",
};

/** Between opening a table and the first question. */
export function Waiting({ state }: { state: State }) {
  return (
    <div class="empty" role="status">
      <h1>{WORDS[state.phase] ?? "One moment"}…</h1>
      <progress aria-label="Opening" />
      <p class="faint">{state.message}</p>
    </div>
  );
}
