import type { Answer } from "../api/types";
import { PairLink } from "./PairLink";
import { moment, WORDS } from "../text/words";

/** An answer in a line: what was said of which two, by whom and when. */
export function AnswerLine({ answer }: { answer: Answer }) {
  return (
    <span class="answer-line">
      <span class={`word ${answer.answer}`}>{WORDS[answer.answer]}</span>
      <PairLink answer={answer} />
      <span class="faint">
        {answer.annotator ?? "somebody"}, {moment(answer.time)}
      </span>
    </span>
  );
}
