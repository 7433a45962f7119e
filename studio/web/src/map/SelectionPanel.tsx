import { useState } from "preact/hooks";
import { ClusterSearch } from "../components/ClusterSearch";
import { Dialog } from "../components/Dialog";
import { useStudio } from "../state/studio";
import { clusterName, plural } from "../text/words";

/** As many rows as one answer may be about. */
const MOST = 2000;

type Asked = "move" | "keep_out" | "select" | null;
const TITLES = { move: "Move them to", keep_out: "None of them belongs to", select: "Select a cluster" };

interface Props {
  /** Row numbers. */
  readonly rows: readonly number[];
  selectCluster(cluster: number): void;
  clear(): void;
}

/** What can be said about the selected points. */
export function SelectionPanel({ rows, selectCluster, clear }: Props) {
  const studio = useStudio();
  const [asked, setAsked] = useState<Asked>(null);
  const tooMany = rows.length > MOST;
  const say = (body: Record<string, unknown>, words: string): void =>
    void studio.write("cluster", { ...body, rows, version: studio.version.value }, {
      done: () => {
        studio.say(words);
        clear();
      },
    });
  const usable = rows.length > 0 && !tooMany;
  return (
    <section class="panel" aria-label="Selection">
      <h2>{rows.length ? `${plural(rows.length, "point")} selected` : "Nothing selected"}</h2>
      {tooMany && <p class="bad">At most {MOST.toLocaleString("en-GB")} rows at a time: draw a smaller lasso.</p>}
      {rows.length === 0 && <p class="faint">Draw around points with the lasso, or hold Shift and drag. Enter takes the points in the ring.</p>}
      <div class="stack">
        <button type="button" disabled={!usable || rows.length < 2} onClick={() => say({ action: "together" }, `${plural(rows.length, "row")} belong together.`)}>
          These belong together
        </button>
        <button type="button" disabled={!usable} onClick={() => setAsked("move")}>Move to…</button>
        <button type="button" disabled={!usable} onClick={() => setAsked("keep_out")}>None of these belongs to…</button>
        <button type="button" class="quiet" onClick={() => setAsked("select")}>Select a cluster…</button>
        {rows.length > 0 && <button type="button" class="quiet" onClick={clear}>Clear the selection</button>}
      </div>
      {asked && (
        <Dialog title={TITLES[asked]} wide close={() => setAsked(null)}>
          <ClusterSearch
            label="Cluster"
            choose={(cluster) => {
              setAsked(null);
              if (asked === "select") return selectCluster(cluster.number);
              const end = asked === "move" ? "moved to" : "kept out of";
              say({ action: asked, cluster: cluster.number }, `${plural(rows.length, "row")} ${end} ${clusterName(cluster)}.`);
            }}
          />
        </Dialog>
      )}
    </section>
  );
}
