import type { Answer } from "../api/types";
import { moment, WORDS } from "../text/words";

/** An answer in a line: what was said of which two, by whom and when. */
export function AnswerLine({ answer }: { answer: Answer }) {
  return (
    <span class="answer-line">
      <span class={`word ${answer.answer}`}>{WORDS[answer.answer]}</span>
      <span class="ids">
        {answer.ids[0]} <span class="faint">and</span> {answer.ids[1]}
      </span>
      <span class="faint">
        {answer.annotator ?? "somebody"}, {moment(answer.time)}
      </span>
    </span>
  );
}
