import type { Word } from "../api/types";
import { type Action, ACTION_NAMES, keymap } from "../keys/keymap";
import { Key } from "./Key";

const BUTTONS: readonly (readonly [Action, Word, string])[] = [
  ["same", "same", "primary"],
  ["different", "different", "primary"],
  ["unsure", "unknown", ""],
  ["later", "later", ""],
];

/** Same, different, unsure, later: each with its key. */
export function AnswerButtons({ answer, disabled }: { answer(word: Word): void; disabled: boolean }) {
  return (
    <div class="answers" role="group" aria-label="Your answer">
      {BUTTONS.map(([action, word, tone]) => (
        <button
          key={word}
          type="button"
          class={`answer ${tone}`}
          aria-keyshortcuts={keymap.value[action]}
          aria-disabled={disabled}
          onClick={() => answer(word)}
        >
          {ACTION_NAMES[action]} <Key of={action} />
        </button>
      ))}
    </div>
  );
}
