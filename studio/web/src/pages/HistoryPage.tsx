import { useState } from "preact/hooks";
import type { Annotator, Answer } from "../api/types";
import { Pager } from "../components/Pager";
import { AnswerRow } from "../history/AnswerRow";
import { Annotators } from "../history/Annotators";
import { useStudio } from "../state/studio";
import { useDelayed } from "../state/useDelayed";
import { useFetched } from "../state/useFetched";

const LIMIT = 50;
const STATES = [["", "all"], ["in force", "in force"], ["retracted", "retracted"], ["undone", "undone"]] as const;

/** Every answer, who gave it and when; any can be changed or retracted. */
export function HistoryPage() {
  const studio = useStudio();
  const [annotator, setAnnotator] = useState("");
  const [state, setState] = useState("");
  const [text, setText] = useState("");
  const [offset, setOffset] = useState(0);
  const query = useDelayed(text.trim());
  const found = useFetched<{ total: number; answers: Answer[] }>("history", { annotator, state, q: query, offset, limit: LIMIT }, studio.writes.value);
  const rated = useFetched<{ annotators: Annotator[] }>("annotators", {}, studio.writes.value).value?.annotators ?? [];
  // Who was only ever unsure has no rates, and is still somebody to look for.
  const shown = (found.value?.answers ?? []).flatMap((answer) => answer.annotator ?? []);
  const here = (studio.state.value?.people ?? []).map((person) => person.name);
  const people = [...new Set([...rated.map((person) => person.name), ...here, ...shown, ...(annotator ? [annotator] : [])])].sort();
  const first = <T,>(set: (value: T) => void) => (value: T): void => {
    set(value);
    setOffset(0);
  };
  return (
    <>
      <div class="row spread">
        <h1>History</h1>
        <div class="row">
          <label class="inline">
            Person{" "}
            <select value={annotator} onChange={(event) => first(setAnnotator)(event.currentTarget.value)}>
              <option value="">everybody</option>
              {people.map((name) => (
                <option key={name}>{name}</option>
              ))}
            </select>
          </label>
          <label class="inline">
            State{" "}
            <select value={state} onChange={(event) => first(setState)(event.currentTarget.value)}>
              {STATES.map(([value, words]) => (
                <option key={value} value={value}>{words}</option>
              ))}
            </select>
          </label>
          <label class="inline">
            Record <input type="search" value={text} placeholder="an id" onInput={(event) => first(setText)(event.currentTarget.value)} />
          </label>
        </div>
      </div>
      {found.error && <p class="bad">{found.error}</p>}
      <div class="scroll" tabIndex={0} role="region" aria-label="Answers">
        <table class="table history">
          <thead>
            <tr>
              <th scope="col" class="number">No.</th>
              <th scope="col">Answer</th>
              <th scope="col">Records</th>
              <th scope="col">By</th>
              <th scope="col">When</th>
              <th scope="col">How</th>
              <th scope="col"><span class="sr-only">Retract</span></th>
            </tr>
          </thead>
          <tbody>
            {found.value?.answers.map((answer) => (
              <AnswerRow key={answer.number} answer={answer} />
            ))}
          </tbody>
        </table>
      </div>
      {found.fresh && found.value?.total === 0 && <p class="empty faint">{annotator || state || query ? "No answer is like that." : "No answers yet."}</p>}
      {found.value && found.value.total > 0 && <Pager total={found.value.total} offset={offset} limit={LIMIT} go={setOffset} what="answer" />}
      <Annotators />
    </>
  );
}
