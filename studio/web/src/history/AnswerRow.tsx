import type { Answer, Word } from "../api/types";
import { useStudio } from "../state/studio";
import { PairLink } from "../components/PairLink";
import { how, moment, WORDS } from "../text/words";

/** An answer in the table: its word can be changed, and it can be retracted. */
export function AnswerRow({ answer }: { answer: Answer }) {
  const studio = useStudio();
  const edit = (word: Word): void =>
    void studio.write("edit", { number: answer.number, answer: word }, { done: () => studio.say(`Answer ${answer.number} is ${WORDS[word].toLowerCase()} now.`) });
  const inForce = answer.state === "in force";
  return (
    <tr class={inForce ? "" : "void"}>
      <td class="number">{answer.number}</td>
      <td>
        {inForce ? (
          <select
            class={`word ${answer.answer}`}
            aria-label={`Answer ${answer.number}`}
            value={answer.answer}
            onChange={(event) => edit(event.currentTarget.value as Word)}
          >
            {Object.entries(WORDS).map(([word, name]) => (
              <option key={word} value={word}>{name}</option>
            ))}
          </select>
        ) : (
          <span class={`word ${answer.answer}`}>{WORDS[answer.answer]}</span>
        )}
      </td>
      <td>
        <PairLink answer={answer} />
      </td>
      <td>{answer.annotator ?? ""}</td>
      <td class="nowrap">{moment(answer.time)}</td>
      <td class="faint">{inForce ? how(answer.phase) : answer.state}</td>
      <td>
        {inForce && (
          <button
            type="button"
            class="quiet"
            aria-label={`Retract answer ${answer.number}`}
            onClick={() => void studio.write("retract", { number: answer.number }, { done: () => studio.say("Retracted. Undo brings it back.") })}
          >
            Retract
          </button>
        )}
      </td>
    </tr>
  );
}
