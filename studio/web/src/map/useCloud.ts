import { useEffect, useState } from "preact/hooks";
import { StudioError } from "../api/transport";
import type { MapFacts, MapPair } from "../api/types";
import { useStudio } from "../state/studio";
import { useFetched } from "../state/useFetched";
import { type Cloud, loadCloud, loadClusters } from "./cloud";

/** The points of a layout as they arrive, their clusters as they change, and the pairs. */
export function useCloud(layout: string) {
  const studio = useStudio();
  const version = studio.version.value;
  const facts = useFetched<MapFacts>("map", {}, version).value;
  const pairs = useFetched<{ pairs: MapPair[] }>("map_pairs", { limit: 5000 }, `${version} ${studio.writes.value}`).value;
  const [cloud, setCloud] = useState<Cloud | null>(null);
  const [error, setError] = useState<string | null>(null);
  const ready = studio.state.value?.layouts.find((known) => known.name === layout)?.state === "ready";

  useEffect(() => {
    if (!facts || !ready) return;
    let gone = false;
    setError(null);
    loadCloud(studio, facts, layout, setCloud, () => gone).catch((reason: unknown) => {
      if (!gone) setError(reason instanceof StudioError ? reason.message : String(reason));
    });
    return () => {
      gone = true;
    };
  }, [layout, ready, facts?.n, studio.session.value]);

  // Another clustering, perhaps while points were still arriving.
  const all = cloud !== null && cloud.loaded === cloud.n;
  useEffect(() => {
    if (!facts || !all || cloud.version === facts.version) return;
    let gone = false;
    loadClusters(studio, facts).then(
      (clusters) => {
        if (!gone) setCloud((old) => old && { ...old, clusters, version: facts.version });
      },
      () => undefined, // the colours stay; the next clustering brings new ones
    );
    return () => {
      gone = true;
    };
  }, [all, facts?.version]);

  return { cloud, facts, pairs: pairs?.pairs ?? [], ready, error };
}
