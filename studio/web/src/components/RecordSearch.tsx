import { useState } from "preact/hooks";
import type { StudioRecord } from "../api/types";
import { useDelayed } from "../state/useDelayed";
import { useFetched } from "../state/useFetched";
import { recordLine } from "./recordLine";

interface Found {
  readonly records: readonly StudioRecord[];
  readonly more: boolean;
}

/** Search in all records; choosing one hands it on. */
export function RecordSearch(props: { label: string; not?: readonly number[]; start?: string; choose(record: StudioRecord): void }) {
  const [text, setText] = useState(props.start ?? "");
  const query = useDelayed(text.trim());
  const found = useFetched<Found>("search", { q: query, limit: 20, not: props.not ?? [] });
  return (
    <div class="search">
      <label>
        {props.label}
        <input type="search" value={text} autofocus onInput={(event) => setText(event.currentTarget.value)} placeholder="words of any field, or an id" />
      </label>
      {found.error && <p class="bad">{found.error}</p>}
      <ul class="choices" aria-label="Records found">
        {found.value?.records.map((record) => (
          <li key={record.row}>
            <button type="button" class="choice" onClick={() => props.choose(record)}>
              <b>{record.id}</b> <span>{recordLine(record)}</span>
            </button>
          </li>
        ))}
      </ul>
      {query && found.fresh && found.value?.records.length === 0 && <p class="faint">No record has all of these words.</p>}
      {found.value?.more && <p class="faint">There are more; add a word.</p>}
    </div>
  );
}
