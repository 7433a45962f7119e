import { useEffect, useMemo, useState } from "preact/hooks";
import { useDark } from "../state/useDark";
import { useStudio } from "../state/studio";
import { useFetched } from "../state/useFetched";
import { useGroup } from "../state/useGroup";
import type { ClusterList } from "../api/types";
import { clusterName, count, plural } from "../text/words";
import type { Point } from "./camera";
import { linesOf, placesOf } from "./cloud";
import { sceneOf } from "./colours";
import { HoverCard } from "./HoverCard";
import { Legend } from "./Legend";
import { LayoutChoice } from "./LayoutChoice";
import { type Mode, PointMap } from "./PointMap";
import { SelectionPanel } from "./SelectionPanel";
import { useCloud } from "./useCloud";

const NO_LINES = { lines: new Float32Array(0), signs: new Int8Array(0), broken: new Uint8Array(0) };
const NONE = new Uint32Array(0);
const LISTED = 8; // clusters in the legend

/** The map and what can be said on it; on the page and in notebooks. */
export function MapView({ readOnly = false }: { readOnly?: boolean }) {
  const studio = useStudio();
  const [layout, setLayout] = useState("pca");
  const [mode, setMode] = useState<Mode>("lasso");
  const group = useGroup();
  const [showPairs, setShowPairs] = useState(true);
  const [selected, setSelected] = useState<Uint32Array>(NONE);
  const [wanted, setWanted] = useState<number | null>(null); // a cluster that was chosen
  const [hovered, setHovered] = useState<{ place: number; at: Point } | null>(null);
  const { cloud, facts, pairs, ready, error } = useCloud(layout);
  const dark = useDark();
  const list = useFetched<ClusterList>("clusters", { sort: "size", limit: LISTED }, `${studio.version.value} ${studio.writes.value}`).value;
  const names = new Map(list?.clusters.map((cluster) => [cluster.number, clusterName(cluster)]));

  useEffect(() => {
    // The layout asked for may have to be made first.
    const known = studio.state.value?.layouts.find(({ name }) => name === layout);
    if (known?.state === "none") void studio.read("layout", { name: layout }).catch(() => undefined);
  }, [layout, studio.state.value?.phase]);

  const lines = useMemo(() => (cloud && showPairs ? linesOf(cloud, pairs) : NO_LINES), [cloud?.loaded, cloud?.positions, pairs, showPairs]);
  const scene = useMemo(() => cloud && sceneOf(cloud, selected, lines, dark), [cloud, selected, lines, dark]);
  const nBroken = lines.broken.reduce((sum, one) => sum + one, 0);

  const select = (places: Uint32Array, more: boolean): void => {
    setHovered(null);
    setWanted(null);
    setSelected(more ? Uint32Array.from(new Set([...selected, ...places])).sort() : places);
  };
  // Points may still be on their way: those of the cluster are selected as they arrive.
  useEffect(() => {
    if (wanted === null || !cloud) return;
    setSelected(placesOf(cloud, wanted));
    if (cloud.loaded === cloud.n && cloud.version === facts?.version) setWanted(null);
  }, [wanted, cloud, facts?.version]);

  return (
    <div class="map-page">
      <div class="map-place">
        {scene ? (
          <PointMap
            scene={scene}
            mode={mode}
            label={`Map of ${plural(scene.colours.length, "row")} in ${plural(facts?.n_clusters ?? 0, "cluster")}`}
            select={select}
            hover={(place, at) => setHovered(place < 0 ? null : { place, at })}
          />
        ) : (
          <p class="empty faint" role="status">{error ?? (ready ? "Fetching the points…" : "The layout is being computed…")}</p>
        )}
        {hovered && cloud && (
          <HoverCard row={cloud.rows[hovered.place]!} at={hovered.at} right={hovered.at[0] > 320} names={names} />
        )}
        {cloud && cloud.loaded < cloud.n && (
          <p class="map-progress" role="status">{count(cloud.loaded)} of {count(cloud.n)} points</p>
        )}
      </div>
      <div class="map-side">
        <fieldset class="segmented">
          <legend>Dragging</legend>
          {(["lasso", "pan"] as const).map((name) => (
            <label key={name}>
              <input type="radio" name={group} checked={mode === name} onChange={() => setMode(name)} />
              {name === "lasso" ? "selects" : "moves"}
            </label>
          ))}
        </fieldset>
        <LayoutChoice layout={layout} choose={setLayout} />
        <label class="inline">
          <input type="checkbox" checked={showPairs} onChange={(event) => setShowPairs(event.currentTarget.checked)} />
          <span>
            Answers as lines{nBroken > 0 && <span class="bad">, {count(nBroken)} broken in red</span>}
          </span>
        </label>
        {list && <Legend clusters={list.clusters} total={list.total} choose={setWanted} />}
        {!readOnly && (
          <SelectionPanel rows={Array.from(selected, (place) => cloud!.rows[place]!)} selectCluster={setWanted} clear={() => select(NONE, false)} />
        )}
      </div>
    </div>
  );
}
