import { useState } from "preact/hooks";
import type { StudioRecord } from "../api/types";
import { ClusterSearch } from "../components/ClusterSearch";
import { Dialog } from "../components/Dialog";
import { Pager } from "../components/Pager";
import { recordLine } from "../components/recordLine";
import { useStudio } from "../state/studio";
import { useFetched } from "../state/useFetched";
import { clusterName, plural } from "../text/words";

const LIMIT = 50;

/** The rows of a cluster; some can be chosen and moved, split off or pinned. */
export function Members({ cluster, size }: { cluster: number; size: number }) {
  const studio = useStudio();
  const [offset, setOffset] = useState(0);
  const [chosen, setChosen] = useState<ReadonlySet<number>>(new Set());
  const [moving, setMoving] = useState(false);
  const found = useFetched<{ records: StudioRecord[]; total: number }>("members", { number: cluster, offset, limit: LIMIT }, studio.version.value);
  const rows = [...chosen];
  const toggle = (row: number): void => {
    const next = new Set(chosen);
    if (!next.delete(row)) next.add(row);
    setChosen(next);
  };
  const say = (body: Record<string, unknown>, words: string): void =>
    void studio.write("cluster", { ...body, version: studio.version.value }, {
      done: () => {
        studio.say(words);
        setChosen(new Set());
      },
    });
  return (
    <section aria-label="Members">
      <div class="row spread sticky">
        <h2>Members</h2>
        <div class="row" role="group" aria-label="Chosen members">
          <span class="faint">{plural(rows.length, "row")} chosen</span>
          <button type="button" disabled={!rows.length} onClick={() => setMoving(true)}>Move…</button>
          <button type="button" disabled={!rows.length || rows.length >= size} onClick={() => say({ action: "split", cluster, piles: [rows] }, `${plural(rows.length, "row")} split off.`)}>
            Split off
          </button>
          <button type="button" disabled={rows.length !== 1 || size < 2} onClick={() => say({ action: "pin", row: rows[0], cluster }, "Pinned: it belongs here for certain.")}>
            Pin
          </button>
        </div>
      </div>
      {found.error && <p class="bad">{found.error}</p>}
      <ul class="plain members">
        {found.value?.records.map((record) => (
          <li key={record.row}>
            <label class="member">
              <input type="checkbox" checked={chosen.has(record.row)} onChange={() => toggle(record.row)} />
              <b>{record.id}</b> <span>{recordLine(record, 160)}</span>
            </label>
          </li>
        ))}
      </ul>
      {found.value && <Pager total={found.value.total} offset={offset} limit={LIMIT} go={setOffset} what="member" />}
      {moving && (
        <Dialog title={`Move ${plural(rows.length, "row")} to`} wide close={() => setMoving(false)}>
          <ClusterSearch
            label="Cluster"
            not={cluster}
            choose={(target) => {
              setMoving(false);
              say({ action: "move", rows, cluster: target.number }, `Moved to ${clusterName(target)}.`);
            }}
          />
        </Dialog>
      )}
    </section>
  );
}
