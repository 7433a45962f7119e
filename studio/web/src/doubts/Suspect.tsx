import { useState } from "preact/hooks";
import type { Answer, StudioRecord } from "../api/types";
import { AnswerLine } from "../components/AnswerLine";
import { PairTable } from "../components/PairTable";

interface Props {
  readonly answer: Answer;
  readonly records: readonly StudioRecord[];
  readonly words: string;
  retract(): void;
  keep?(): void;
}

/** One answer that may be wrong or that the clusters break; its records unfold. */
export function Suspect({ answer, records, words, retract, keep }: Props) {
  const [left, right] = records;
  const [folded, setFolded] = useState(true);
  return (
    <li class="doubt">
      <div class="row spread">
        <AnswerLine answer={answer} />
        <div class="row" role="group" aria-label={`Answer ${answer.number}`}>
          <button type="button" onClick={retract}>Retract</button>
          {keep && <button type="button" onClick={keep}>Keep</button>}
        </div>
      </div>
      {words && <p>{words}</p>}
      {left && right && (
        <details>
          <summary>The two records</summary>
          <PairTable left={left} right={right} folded={folded} toggleFold={() => setFolded(!folded)} />
        </details>
      )}
    </li>
  );
}
