import { keymap } from "../keys/keymap";
import { Key } from "./Key";

interface Props {
  readonly why: boolean;
  readonly guidelines: boolean;
  setWhy(shown: boolean): void;
  setGuidelines(shown: boolean): void;
  pick(): void;
}

/** What helps with a question; why it is asked stays hidden until somebody wants to know. */
export function AnswerTools({ why, guidelines, setWhy, setGuidelines, pick }: Props) {
  return (
    <div class="row tools" role="group" aria-label="Help with this question">
      <button type="button" class="quiet" aria-keyshortcuts={keymap.value.pick} onClick={pick}>
        Pick another record <Key of="pick" />
      </button>
      <button type="button" class="quiet" aria-expanded={why} aria-keyshortcuts={keymap.value.why} onClick={() => setWhy(!why)}>
        Why this question <Key of="why" />
      </button>
      <button type="button" class="quiet" aria-expanded={guidelines} aria-keyshortcuts={keymap.value.guidelines} onClick={() => setGuidelines(!guidelines)}>
        Guidelines <Key of="guidelines" />
      </button>
    </div>
  );
}
