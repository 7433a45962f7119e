import { useState } from "preact/hooks";
import type { ClusterList } from "../api/types";
import { Pager } from "../components/Pager";
import { Swatch } from "../components/Swatch";
import { useStudio } from "../state/studio";
import { useDelayed } from "../state/useDelayed";
import { useFetched } from "../state/useFetched";
import { clusterName, count, percent } from "../text/words";

const LIMIT = 50;
const SORTS = [["size", "largest first"], ["number", "by number"], ["name", "by name"]] as const;

/** All clusters, searchable. */
export function ClustersPage() {
  const studio = useStudio();
  const [text, setText] = useState("");
  const [sort, setSort] = useState("size");
  const [offset, setOffset] = useState(0);
  const query = useDelayed(text.trim());
  const found = useFetched<ClusterList>("clusters", { q: query, sort, offset, limit: LIMIT }, `${studio.version.value} ${studio.writes.value}`);
  const list = found.value;
  const largest = Math.max(0, ...(list?.clusters.map((cluster) => cluster.share) ?? []));
  return (
    <>
      <div class="row spread">
        <h1>Clusters</h1>
        <div class="row">
          <label class="inline">
            Find{" "}
            <input
              type="search"
              value={text}
              size={24}
              placeholder="name, number or a word"
              onInput={(event) => {
                setText(event.currentTarget.value);
                setOffset(0);
              }}
            />
          </label>
          <label class="inline">
            Order{" "}
            <select value={sort} onChange={(event) => setSort(event.currentTarget.value)}>
              {SORTS.map(([name, words]) => (
                <option key={name} value={name}>{words}</option>
              ))}
            </select>
          </label>
        </div>
      </div>
      {found.error && <p class="bad">{found.error}</p>}
      <ul class="cluster-list" aria-label="Clusters" aria-busy={found.loading}>
        {list?.clusters.map((cluster) => (
          <li key={cluster.number}>
            <a href={`#/clusters/${cluster.number}`} class="cluster-line">
              <span class="cluster-title">
                <Swatch cluster={cluster.number} />
                <b>{clusterName(cluster)}</b>
                {cluster.name && <span class="faint">{cluster.number}</span>}
              </span>
              <span class="number">{count(cluster.size)}</span>
              <meter class="share" min={0} max={largest} value={cluster.share} aria-label={`${percent(cluster.share)} of the rows`} />
              <span class="typical">{cluster.typical}</span>
            </a>
          </li>
        ))}
      </ul>
      {list?.total === 0 && <p class="empty faint">No cluster matches.</p>}
      {list && <Pager total={list.total} offset={offset} limit={LIMIT} go={setOffset} what="cluster" />}
    </>
  );
}
