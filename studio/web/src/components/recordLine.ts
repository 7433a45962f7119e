import type { StudioRecord } from "../api/types";

/** A record in one line: what its text fields say, cut short. */
export function recordLine(record: StudioRecord, most = 110): string {
  const text = record.fields
    .filter((field) => field.kind !== "image" && field.value && field.value !== record.id)
    .map((field) => field.value)
    .join(" · ");
  return text.length > most ? `${text.slice(0, most - 1)}…` : text;
}
