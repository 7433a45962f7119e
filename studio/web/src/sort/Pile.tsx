import { useState } from "preact/hooks";
import type { StudioRecord } from "../api/types";
import { plural } from "../text/words";
import { Card } from "./Card";

interface Props {
  readonly pile: number;
  readonly records: readonly StudioRecord[];
  readonly current: number;
  choose(row: number): void;
  /** A card was dropped here, or the chosen one is sent here. */
  take(row: number): void;
}

/** A place for cards: the table (0) or a pile. */
export function Pile({ pile, records, current, choose, take }: Props) {
  const [over, setOver] = useState(false);
  const name = pile === 0 ? "Not sorted" : `Pile ${pile}`;
  return (
    <section
      class={`pile${over ? " over" : ""}${pile === 0 ? " loose" : ""}`}
      aria-label={`${name}, ${plural(records.length, "card")}`}
      onDragOver={(event) => {
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => {
        event.preventDefault();
        setOver(false);
        const row = Number(event.dataTransfer?.getData("text/plain"));
        if (Number.isInteger(row)) take(row);
      }}
    >
      <div class="row spread pile-head">
        <h2>{name}</h2>
        <button type="button" class="quiet" onClick={() => take(current)}>
          Put here <span class="sr-only">({pile === 0 ? "not sorted" : `pile ${pile}`})</span> <kbd class="key" aria-hidden="true">{pile}</kbd>
        </button>
      </div>
      <div class="cards">
        {records.map((record) => (
          <Card key={record.row} record={record} pile={pile} current={record.row === current} choose={() => choose(record.row)} />
        ))}
        {records.length === 0 && <p class="faint">{pile === 0 ? "All cards are in piles." : "Drag a card here."}</p>}
      </div>
    </section>
  );
}
