import type { StudioRecord } from "../api/types";
import { FieldValue } from "./FieldValue";

/** A record by itself: its id and the fields that are filled; `still`: nothing in it can be clicked. */
export function RecordFields({ record, most = 100, still = false }: { record: StudioRecord; most?: number; still?: boolean }) {
  const filled = record.fields.filter((field) => field.value);
  return (
    <div class="record">
      <div class="record-id">{record.id}</div>
      <dl class="fields">
        {filled.slice(0, most).map((field) => (
          <div key={field.name}>
            <dt>{field.name}</dt>
            <dd>
              <FieldValue field={field} of={record.id} folded still={still} />
            </dd>
          </div>
        ))}
      </dl>
      {filled.length > most && <div class="faint">and more</div>}
    </div>
  );
}
