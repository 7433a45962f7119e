import { useEffect, useState } from "preact/hooks";
import type { Question, Word } from "../api/types";
import { AnswerButtons } from "../components/AnswerButtons";
import { AnswerTools } from "../components/AnswerTools";
import { CountsLine } from "../components/CountsLine";
import { Guidelines } from "../components/Guidelines";
import { Nothing } from "../components/Nothing";
import { PairTable } from "../components/PairTable";
import { PickRecord } from "../components/PickRecord";
import { StopHint } from "../components/StopHint";
import { useKeys } from "../keys/useKeys";
import { useStudio } from "../state/studio";
import { useQuestion } from "../state/useQuestion";
import { percent } from "../text/words";

/** Two records: do they belong together? `pane`: whether the guidelines are open at first, where there is room. */
export function AnswerPage({ pane = true }: { pane?: boolean }) {
  const studio = useStudio();
  const asking = useQuestion("pair");
  const [guidelines, setGuidelines] = useState(() => pane && matchMedia("(min-width: 70rem)").matches);
  // Of the question on screen only: a score that stays open would bias the next answer.
  const [explained, setExplained] = useState<Question | null>(null);
  const [unfolded, setUnfolded] = useState<Question | null>(null);
  const [picking, setPicking] = useState(false);
  const { question } = asking;
  const [why, folded] = [question !== null && explained === question, unfolded !== question];
  const setWhy = (shown: boolean): void => setExplained(shown ? question : null);
  const toggleFold = (): void => setUnfolded(folded ? question : null);
  const answer = (word: Word): void => asking.tell({ answer: word });
  const busy = asking.waiting || studio.busy.value;

  // What was undone comes back to be answered again; after a redo the next question does.
  useEffect(() => {
    const step = studio.stepped.value;
    if (!step) return;
    studio.stepped.value = null;
    if (step.name === "redo" || step.rows.length !== 2) return asking.fetch();
    asking.showRows(step.rows, "You took your answer about this pair back.");
  }, [studio.stepped.value]);

  useKeys({
    same: () => answer("same"),
    different: () => answer("different"),
    unsure: () => answer("unknown"),
    later: () => answer("later"),
    why: () => setWhy(!why),
    guidelines: () => setGuidelines(!guidelines),
    pick: () => setPicking(question !== null),
    unfold: toggleFold,
  });

  const [left, right] = question?.records ?? [];
  return (
    <div class={guidelines ? "with-pane" : ""}>
      <div class="answering" aria-busy={busy}>
        <div class="row spread">
          <h1>{title(question, asking.done !== null)}</h1>
          <CountsLine />
        </div>
        {left && right ? (
          <>
            <StopHint />
            <PairTable left={left} right={right} folded={folded} toggleFold={toggleFold} />
            <div class="deck">
              <AnswerButtons answer={answer} disabled={busy} />
              <AnswerTools why={why} guidelines={guidelines} setWhy={setWhy} setGuidelines={setGuidelines} pick={() => setPicking(true)} />
              {why && <Why words={question?.why ?? ""} gain={question?.gain ?? null} />}
            </div>
            {question?.id === null && (
              <button type="button" class="quiet" onClick={asking.fetch}>
                Back to the questions
              </button>
            )}
          </>
        ) : (
          <Nothing asking={asking} />
        )}
      </div>
      {guidelines && (
        <aside class="pane">
          <Guidelines />
        </aside>
      )}
      {picking && left && right && (
        <PickRecord
          pair={[left, right]}
          close={() => setPicking(false)}
          choose={(kept, chosen) => {
            setPicking(false);
            asking.show([kept, chosen], "You picked this record yourself.");
          }}
        />
      )}
    </div>
  );
}

function title(question: Question | null, done: boolean): string {
  if (done) return "Answer";
  return question?.id === null ? "What about these two?" : "Do these two belong together?";
}

function Why({ words, gain }: { words: string; gain: number | null }) {
  return (
    <p class="why" role="status">
      {words}
      {gain !== null && <span class="faint"> How open the answer is: {percent(gain)}.</span>}
    </p>
  );
}
