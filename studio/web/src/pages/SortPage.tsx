import { useEffect, useState } from "preact/hooks";
import { CountsLine } from "../components/CountsLine";
import { Nothing } from "../components/Nothing";
import { Board } from "../sort/Board";
import { useStudio } from "../state/studio";
import { useQuestion } from "../state/useQuestion";

const SIZES = [4, 6, 8, 12];

/** A set of records as cards that go into piles: one pile, one thing. */
export function SortPage() {
  const studio = useStudio();
  const [size, setSize] = useState(6);
  const asking = useQuestion("set", size);
  const { question } = asking;

  useEffect(() => {
    if (studio.stepped.value) {
      studio.stepped.value = null;
      asking.fetch();
    }
  }, [studio.stepped.value]);

  return (
    <>
      <div class="row spread">
        <h1>Which of these belong together?</h1>
        <CountsLine />
      </div>
      <div class="row spread">
        <p class="faint">
          Drag the cards; or choose one, by a click or the arrow keys, and press the number or the button of its pile. Cards that
          stay unsorted are recorded as unsure.
        </p>
        <label class="inline">
          Cards, at most{" "}
          <select value={size} onChange={(event) => setSize(Number(event.currentTarget.value))}>
            {SIZES.map((n) => (
              <option key={n}>{n}</option>
            ))}
          </select>
        </label>
      </div>
      {question ? (
        <Board key={question.id} question={question} busy={asking.waiting || studio.busy.value} submit={(piles) => asking.tell({ piles })} />
      ) : (
        <Nothing asking={asking} />
      )}
    </>
  );
}
