import { useLayoutEffect, useState } from "preact/hooks";
import { Dialog } from "../components/Dialog";
import { type Action, ACTION_NAMES, DEFAULT_KEYS, keyLabel, keymap, remapped, setKeys } from "../keys/keymap";

/** All keys; each can be changed by pressing another. */
export function KeysDialog({ close }: { close(): void }) {
  const [waiting, setWaiting] = useState<Action | null>(null);
  useLayoutEffect(() => {
    if (!waiting) return;
    const listen = (event: KeyboardEvent): void => {
      if (["Shift", "Control", "Alt", "Meta", "Tab"].includes(event.key)) return;
      event.preventDefault();
      event.stopPropagation();
      if (event.key !== "Escape") {
        setKeys(remapped(keymap.value, waiting, event.key.length === 1 ? event.key.toLowerCase() : event.key));
      }
      setWaiting(null);
    };
    document.addEventListener("keydown", listen, true);
    return () => document.removeEventListener("keydown", listen, true);
  }, [waiting]);
  return (
    <Dialog title="Keys" close={close}>
      <p class="faint">Choose one and press the key you like better. If another action has it, the two swap.</p>
      <ul class="plain keys">
        {(Object.keys(ACTION_NAMES) as Action[]).map((action) => (
          <li key={action} class="row spread">
            <span>{ACTION_NAMES[action]}</span>
            <button type="button" aria-label={`Key of ${ACTION_NAMES[action]}: ${keyLabel(keymap.value[action])}`} onClick={() => setWaiting(action)}>
              {waiting === action ? "press a key…" : <kbd class="key">{keyLabel(keymap.value[action])}</kbd>}
            </button>
          </li>
        ))}
      </ul>
      <p class="faint">On the map: arrows move, + and − zoom, 0 shows all, Enter selects. When sorting: arrows choose a card, digits a pile.</p>
      <button type="button" onClick={() => setKeys({ ...DEFAULT_KEYS })}>As they were at first</button>
    </Dialog>
  );
}
