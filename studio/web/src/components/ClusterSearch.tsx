import { useState } from "preact/hooks";
import type { ClusterLine, ClusterList } from "../api/types";
import { useStudio } from "../state/studio";
import { useDelayed } from "../state/useDelayed";
import { useFetched } from "../state/useFetched";
import { clusterName, count, plural } from "../text/words";
import { Swatch } from "./Swatch";

/** Choose one of the clusters, of which there may be thousands, by name, number or what is in it. */
export function ClusterSearch(props: { label: string; not?: number; choose(cluster: ClusterLine): void }) {
  const studio = useStudio();
  const [text, setText] = useState("");
  const found = useFetched<ClusterList>("clusters", { q: useDelayed(text.trim()), sort: "size", limit: 30 }, studio.version.value);
  const clusters = found.value?.clusters.filter((cluster) => cluster.number !== props.not) ?? [];
  return (
    <div class="search">
      <label>
        {props.label}
        <input type="search" autofocus value={text} onInput={(event) => setText(event.currentTarget.value)} placeholder="name, number or a word" />
      </label>
      {found.error && <p class="bad">{found.error}</p>}
      <ul class="choices" aria-label="Clusters found">
        {clusters.map((cluster) => (
          <li key={cluster.number}>
            <button type="button" class="choice" onClick={() => props.choose(cluster)}>
              <Swatch cluster={cluster.number} /> <b>{clusterName(cluster)}</b> <span class="faint">{plural(cluster.size, "row")}</span>{" "}
              <span>{cluster.typical}</span>
            </button>
          </li>
        ))}
      </ul>
      {found.fresh && clusters.length === 0 && <p class="faint">{text.trim() ? "No cluster matches." : "There is no other cluster."}</p>}
      {found.value && found.value.total > 30 && <p class="faint">{count(found.value.total)} match; type to narrow them.</p>}
    </div>
  );
}
