import { signal } from "@preact/signals";

/** Everything a single key can do, with the key it has before anybody changes it. */
export const DEFAULT_KEYS = {
  same: "s",
  different: "d",
  unsure: "u",
  later: "l",
  undo: "z",
  redo: "y",
  why: "w",
  guidelines: "g",
  pick: "p",
  unfold: "f",
  submit: "Enter",
} as const;

export type Action = keyof typeof DEFAULT_KEYS;
export type Keymap = Readonly<Record<Action, string>>;

export const ACTION_NAMES: Readonly<Record<Action, string>> = {
  same: "Same",
  different: "Different",
  unsure: "Unsure",
  later: "Later",
  undo: "Undo",
  redo: "Redo",
  why: "Why this question",
  guidelines: "Guidelines",
  pick: "Pick another record",
  unfold: "Show long text and all columns",
  submit: "Submit the piles",
};

const STORED_AS = "coterie-studio-keys";

/** Keys of this browser; what was stored and is no longer known is dropped. */
export const keymap = signal<Keymap>(stored());

function stored(): Keymap {
  try {
    const found = JSON.parse(localStorage.getItem(STORED_AS) ?? "{}") as Record<string, unknown>;
    const own = Object.entries(found).filter(([action, key]) => action in DEFAULT_KEYS && typeof key === "string");
    return { ...DEFAULT_KEYS, ...Object.fromEntries(own) };
  } catch {
    return { ...DEFAULT_KEYS }; // storage may be forbidden, as in some notebooks
  }
}

/** Gives `action` the key; who had it takes the key that becomes free. */
export function remapped(keys: Keymap, action: Action, key: string): Keymap {
  const holder = (Object.keys(keys) as Action[]).find((other) => keys[other] === key);
  return { ...keys, ...(holder && { [holder]: keys[action] }), [action]: key };
}

export function setKeys(keys: Keymap): void {
  keymap.value = keys;
  try {
    localStorage.setItem(STORED_AS, JSON.stringify(keys));
  } catch {
    // The keys then last as long as the page.
  }
}

/** How a key is written on screen. */
export function keyLabel(key: string): string {
  const names: Record<string, string> = { " ": "Space", Enter: "↵", ArrowLeft: "←", ArrowRight: "→", ArrowUp: "↑", ArrowDown: "↓" };
  return names[key] ?? (key.length === 1 ? key.toUpperCase() : key);
}
