import { useStudio } from "../state/studio";
import { AnswerLine } from "./AnswerLine";
import { Dialog } from "./Dialog";

/** The answer contradicts earlier ones; nothing is recorded until the person has decided. */
export function ClashDialog() {
  const studio = useStudio();
  const clash = studio.clash.value;
  if (!clash) return null;
  const close = (): void => {
    studio.clash.value = null;
  };
  return (
    <Dialog title="Earlier answers say the opposite" wide close={close}>
      <p>{clash.message}</p>
      <ul class="plain">
        {clash.answers.map((answer) => (
          <li key={answer.number} class="row spread">
            <AnswerLine answer={answer} />
            <button
              type="button"
              onClick={() => {
                close();
                void studio.write("retract", { number: answer.number }, { done: () => clash.again(false) });
              }}
            >
              Retract this one
            </button>
          </li>
        ))}
      </ul>
      <div class="row">
        <button
          type="button"
          class="primary"
          onClick={() => {
            close();
            clash.again(true);
          }}
        >
          Keep both
        </button>
        <button type="button" onClick={close}>
          Forget my answer
        </button>
      </div>
    </Dialog>
  );
}
