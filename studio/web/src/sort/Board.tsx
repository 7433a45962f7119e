import { useLayoutEffect, useRef, useState } from "preact/hooks";
import type { Question } from "../api/types";
import { Key } from "../components/Key";
import { isTyping, useKeys } from "../keys/useKeys";
import { useStudio } from "../state/studio";
import { Pile } from "./Pile";
import { asAnswer, nextOnTable, onTheTable, type Piles, put, rowsOf, shownPiles } from "./piles";

const MOVES: Readonly<Record<string, number>> = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };

/** The cards of one set question and the piles they are sorted into; the next question has a new one. */
export function Board({ question, busy, submit }: { question: Question; busy: boolean; submit(piles: number[][]): void }) {
  const studio = useStudio();
  const board = useRef<HTMLDivElement>(null);
  const [piles, setPiles] = useState<Piles>(() => onTheTable(question.rows));
  const [current, setCurrent] = useState(question.rows[0] ?? -1);

  const take = (row: number, pile: number): void => {
    if (!piles.has(row)) return; // something else was dropped
    const next = put(piles, row, pile);
    setPiles(next);
    setCurrent(pile === 0 ? row : nextOnTable(next, row));
  };
  const send = (): void => {
    if (asAnswer(piles).length > 0) submit(asAnswer(piles));
    else studio.say("Put at least one card into a pile first.");
  };
  const step = (by: number): void => {
    const { rows } = question;
    const next = rows[(rows.indexOf(current) + by + rows.length) % rows.length] ?? -1;
    setCurrent(next);
    board.current?.querySelector<HTMLElement>(`[data-row="${next}"]`)?.focus();
  };
  const press = (event: KeyboardEvent): void => {
    if (isTyping(event) || event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target instanceof Element && event.target.closest("dialog")) return;
    const [digit, move] = [Number(event.key), MOVES[event.key]];
    if (/^\d$/.test(event.key) && (digit === 0 || shownPiles(piles).includes(digit))) take(current, digit);
    else if (move) step(move);
    else return;
    event.preventDefault();
  };

  useKeys({ submit: send });
  // One listener that calls the newest function: a key sees what the key before it did.
  const latest = useRef(press);
  latest.current = press;
  useLayoutEffect(() => {
    const listen = (event: KeyboardEvent): void => latest.current(event);
    document.addEventListener("keydown", listen);
    return () => document.removeEventListener("keydown", listen);
  }, []);

  const records = new Map(question.records.map((record) => [record.row, record]));
  const inPile = (pile: number) => rowsOf(piles, pile).flatMap((row) => records.get(row) ?? []);
  return (
    <div ref={board} aria-busy={busy} class="sorting">
      <div class="board">
        {[0, ...shownPiles(piles)].map((pile) => (
          <Pile key={pile} pile={pile} records={inPile(pile)} current={current} choose={setCurrent} take={(row) => take(row, pile)} />
        ))}
      </div>
      <div class="row deck">
        {/* On a phone piles are below all cards, and nothing can be dragged. */}
        <div class="row at-hand" role="group" aria-label="Put the chosen card into">
          {shownPiles(piles).map((pile) => (
            <button key={pile} type="button" onClick={() => take(current, pile)}>Pile {pile}</button>
          ))}
        </div>
        <button type="button" class="answer primary" onClick={send} aria-disabled={busy}>
          Submit the piles <Key of="submit" />
        </button>
      </div>
    </div>
  );
}
