import { useState } from "preact/hooks";

/** A name for a group of radio buttons: two widgets of one notebook are in one document, and must not share it. */
export function useGroup(): string {
  return useState(() => crypto.randomUUID())[0];
}
