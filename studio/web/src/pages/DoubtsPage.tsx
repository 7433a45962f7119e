import type { Doubts } from "../api/types";
import { AnswerLine } from "../components/AnswerLine";
import { Suspect } from "../doubts/Suspect";
import { useVerdict } from "../doubts/useVerdict";
import { useStudio } from "../state/studio";
import { useFetched } from "../state/useFetched";
import { count, percent } from "../text/words";

/** Answers worth a second look: contradictions, suspects, pairs that the clusters break. */
export function DoubtsPage() {
  const studio = useStudio();
  const found = useFetched<Doubts>("doubts", {}, `${studio.version.value} ${studio.writes.value}`);
  const { retract, keep } = useVerdict(found.reload);
  const doubts = found.value;
  if (!doubts) return <><h1>Doubts</h1><p class="empty faint" role="status">{found.error ?? "Looking…"}</p></>;
  // What is suspected is said once, though the clusters break most of it.
  const suspected = new Set(doubts.suspects.map(({ answer }) => answer.number));
  const broken = doubts.broken.filter(({ answer }) => !suspected.has(answer.number));
  const repeated = doubts.broken.length - broken.length;
  const none = !doubts.suspects.length && !doubts.contradictions.length && !doubts.broken.length;
  return (
    <>
      <h1>Doubts</h1>
      {none && (
        <p class="empty" role="status">
          {doubts.n_answers
            ? "Nothing is in doubt: no answer contradicts others, none looks wrong, and the clusters keep all of them."
            : "No two records were said to be the same or different yet. Answers that contradict others, look wrong, or are not kept by the clusters will be listed here."}
        </p>
      )}
      {doubts.contradictions.length > 0 && (
        <section aria-label="Contradictions">
          <h2>Contradictions <span class="faint">{count(doubts.n_contradictions)}</span></h2>
          <p class="faint">The answers of each set cannot all be right. Retract the wrong one, or keep them all: they then count as uncertain.</p>
          <ul class="plain">
            {doubts.contradictions.map((set) => (
              <li class="doubt" key={set.answers.map((answer) => answer.number).join()}>
                <p>{set.words}</p>
                <ul class="plain">
                  {set.answers.map((answer) => (
                    <li key={answer.number} class="row spread">
                      <AnswerLine answer={answer} />
                      <button type="button" aria-label={`Retract answer ${answer.number}`} onClick={() => retract(answer.number)}>Retract</button>
                    </li>
                  ))}
                </ul>
                <button type="button" onClick={() => keep(set.answers.map((answer) => answer.number))}>Keep them all</button>
              </li>
            ))}
          </ul>
        </section>
      )}
      {doubts.suspects.length > 0 && (
        <section aria-label="Suspect answers">
          <h2>Suspect answers <span class="faint">{count(doubts.suspects.length)}</span></h2>
          <ul class="plain">
            {doubts.suspects.map(({ answer, records, words, p_wrong }) => (
              <Suspect
                key={answer.number}
                answer={answer}
                records={records}
                words={words || `Wrong with a probability of ${percent(p_wrong)}.`}
                retract={() => retract(answer.number)}
                keep={() => keep([answer.number])}
              />
            ))}
          </ul>
        </section>
      )}
      {broken.length > 0 && (
        <section aria-label="Broken pairs">
          <h2>Broken pairs <span class="faint">{count(doubts.n_broken - repeated)}</span></h2>
          <p class="faint">The clusters shown do otherwise than these answers say{repeated > 0 && ", as with those above"}.</p>
          <ul class="plain">
            {broken.map(({ answer, records }) => (
              <Suspect key={answer.number} answer={answer} records={records} words="" retract={() => retract(answer.number)} />
            ))}
          </ul>
        </section>
      )}
    </>
  );
}
