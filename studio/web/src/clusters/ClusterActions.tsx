import { useState } from "preact/hooks";
import type { ClusterFacts } from "../api/types";
import { ClusterSearch } from "../components/ClusterSearch";
import { Dialog } from "../components/Dialog";
import { useStudio } from "../state/studio";
import { clusterName } from "../text/words";

/** Merge it with another, or say that its rows do not belong together. */
export function ClusterActions({ facts }: { facts: ClusterFacts }) {
  const studio = useStudio();
  const [merging, setMerging] = useState(false);
  const version = studio.version.value;
  const merge = (other: { number: number; name: string | null }): void => {
    setMerging(false);
    void studio.write("cluster", { action: "merge", a: facts.number, b: other.number, version }, {
      done: () => studio.say(`${clusterName(facts)} and ${clusterName(other)} are one. Undo takes it back.`),
    });
  };
  return (
    <div class="row" role="group" aria-label="The whole cluster">
      <button type="button" onClick={() => setMerging(true)}>Merge with…</button>
      <button
        type="button"
        disabled={facts.size < 2}
        onClick={() =>
          void studio.write("cluster", { action: "reject", cluster: facts.number, version }, {
            done: () => studio.say("Noted: its rows do not all belong together."),
          })
        }
      >
        These do not belong together
      </button>
      {merging && (
        <Dialog title={`Merge ${clusterName(facts)} with`} wide close={() => setMerging(false)}>
          {facts.near.length > 0 && (
            <div class="row" role="group" aria-label="Nearest clusters">
              <span class="faint">Nearest:</span>
              {facts.near.map((other) => (
                <button key={other.number} type="button" onClick={() => merge(other)}>{clusterName(other)}</button>
              ))}
            </div>
          )}
          <ClusterSearch label="or any other" not={facts.number} choose={merge} />
        </Dialog>
      )}
    </div>
  );
}
