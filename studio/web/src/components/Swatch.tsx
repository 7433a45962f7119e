import { clusterCss } from "../map/palette";
import { useDark } from "../state/useDark";

/** The colour of a cluster on the map; says nothing by itself, so screen readers skip it. */
export function Swatch({ cluster }: { cluster: number | null }) {
  return <span class="swatch" aria-hidden="true" style={{ background: clusterCss(cluster ?? -1, useDark()) }} />;
}
