import { useEffect, useState } from "preact/hooks";
import type { StudioRecord } from "../api/types";
import { RecordFields } from "../components/RecordFields";
import { Swatch } from "../components/Swatch";
import { useStudio } from "../state/studio";
import type { Point } from "./camera";

const kept = new WeakMap<object, Map<number, StudioRecord>>();

/** The record of the point under the pointer, beside it; fetched once. */
export function HoverCard({ row, at, right, names }: { row: number; at: Point; right: boolean; names: ReadonlyMap<number, string> }) {
  const studio = useStudio();
  if (!kept.has(studio)) kept.set(studio, new Map());
  const cache = kept.get(studio)!;
  const [, redraw] = useState(0);
  useEffect(() => {
    if (cache.has(row)) return;
    const timer = setTimeout(() => {
      void studio
        .read<{ records: StudioRecord[] }>("records", { rows: [row] })
        .then(({ records }) => {
          if (records[0]) cache.set(row, records[0]);
          redraw((n) => n + 1);
        })
        .catch(() => undefined); // nothing is shown then; the next hover tries again
    }, 40);
    return () => clearTimeout(timer);
  }, [row]);
  const record = cache.get(row);
  if (!record) return null;
  return (
    <div class={right ? "hover-card to-left" : "hover-card"} role="status" style={{ left: `${at[0]}px`, top: `${at[1]}px` }}>
      {record.cluster !== null && (
        <p class="faint">
          <Swatch cluster={record.cluster} /> {names.get(record.cluster) ?? `Cluster ${record.cluster}`}
        </p>
      )}
      <RecordFields record={record} most={6} still />
    </div>
  );
}
