import { type Action, keyLabel, keymap } from "../keys/keymap";

/** The key of an action, as printed on its button. Screen readers hear it as the shortcut. */
export function Key({ of }: { of: Action }) {
  return (
    <kbd class="key" aria-hidden="true">
      {keyLabel(keymap.value[of])}
    </kbd>
  );
}
