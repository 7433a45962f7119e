import type { ClusterLine } from "../api/types";
import { Swatch } from "../components/Swatch";
import { clusterName, count } from "../text/words";

/** The largest clusters and their colours; choosing one selects its points. */
export function Legend({ clusters, total, choose }: { clusters: readonly ClusterLine[]; total: number; choose(cluster: number): void }) {
  return (
    <section aria-label="Clusters by size">
      <h2>
        {count(total)} {total === 1 ? "cluster" : "clusters"}
      </h2>
      <ul class="plain legend">
        {clusters.map((cluster) => (
          <li key={cluster.number}>
            <button type="button" class="choice" onClick={() => choose(cluster.number)}>
              <Swatch cluster={cluster.number} /> <span class="grow">{clusterName(cluster)}</span> <span class="faint">{count(cluster.size)}</span>
            </button>
          </li>
        ))}
      </ul>
      {total > clusters.length && <p class="faint">The {clusters.length} largest; any other by “Select a cluster”.</p>}
    </section>
  );
}
