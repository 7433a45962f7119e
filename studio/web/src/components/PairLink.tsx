import { useState } from "preact/hooks";
import type { Answer } from "../api/types";
import { AnsweredPair } from "./AnsweredPair";

/** The two records that an answer was about, in a few words; a click shows them whole, side by side. */
export function PairLink({ answer }: { answer: Answer }) {
  const [shown, setShown] = useState(false);
  const gone = answer.rows.some((row) => row < 0); // of a row that is no more in the table
  const lines = answer.lines.filter((line) => line);
  return (
    <span class="pair-link">
      <button
        type="button"
        class="link"
        aria-label={`Records of answer ${answer.number}: ${answer.ids[0]} and ${answer.ids[1]}`}
        disabled={gone}
        onClick={() => setShown(true)}
      >
        {answer.ids[0]} <span class="faint">and</span> {answer.ids[1]}
      </button>
      {lines.map((line, at) => (
        <span key={at} class="faint line">{line}</span>
      ))}
      {shown && <AnsweredPair answer={answer} close={() => setShown(false)} />}
    </span>
  );
}
