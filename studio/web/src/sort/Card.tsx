import type { StudioRecord } from "../api/types";
import { RecordFields } from "../components/RecordFields";

interface Props {
  readonly record: StudioRecord;
  readonly pile: number;
  readonly current: boolean;
  choose(): void;
}

/** A record that can be dragged, or chosen and sent to a pile by its number. */
export function Card({ record, pile, current, choose }: Props) {
  const where = pile === 0 ? "on the table" : `in pile ${pile}`;
  return (
    <div
      class={current ? "card current" : "card"}
      role="button"
      tabIndex={current ? 0 : -1}
      aria-pressed={current}
      data-row={record.row}
      draggable
      onDragStart={(event) => {
        event.dataTransfer?.setData("text/plain", String(record.row));
        choose();
      }}
      onClick={choose}
      onFocus={choose}
    >
      <RecordFields record={record} most={8} still />
      <span class="sr-only">{where}</span>
    </div>
  );
}
