import type { Cloud } from "./cloud";
import { BROKEN, clusterColour, GREY_DARK, GREY_LIGHT, pack } from "./palette";
import { pointSizeFor, type Scene } from "./scene";

export interface Lines {
  readonly lines: Float32Array;
  readonly signs: Int8Array;
  readonly broken: Uint8Array;
}

/** Points in the colours of their clusters; once some are selected, the others are grey but there. */
export function sceneOf(cloud: Cloud, selected: Uint32Array, lines: Lines, dark: boolean): Scene {
  const table = new Map<number, number>();
  const colourOf = (cluster: number): number => {
    let colour = table.get(cluster);
    if (colour === undefined) table.set(cluster, (colour = clusterColour(cluster, dark)));
    return colour;
  };
  const colours = new Uint32Array(cloud.loaded);
  if (selected.length > 0) {
    colours.fill(dark ? GREY_DARK : GREY_LIGHT);
    for (const at of selected) colours[at] = colourOf(cloud.clusters[at]!);
  } else {
    for (let at = 0; at < colours.length; at++) colours[at] = colourOf(cloud.clusters[at]!);
  }
  return {
    positions: cloud.positions.subarray(0, 2 * cloud.loaded),
    colours,
    raised: selected,
    lines: lines.lines,
    lineColours: inks(lines, dark),
    pointSize: pointSizeFor(cloud.n),
  };
}

/** Kept pairs are faint, "different" fainter; broken ones are red. */
function inks({ signs, broken }: Lines, dark: boolean): Uint32Array {
  const same = dark ? pack(220, 226, 235, 150) : pack(40, 46, 56, 130);
  const different = dark ? pack(160, 168, 180, 90) : pack(110, 118, 130, 80);
  const colours = new Uint32Array(2 * signs.length);
  for (let k = 0; k < signs.length; k++) {
    colours.fill(broken[k] ? BROKEN : signs[k]! > 0 ? same : different, 2 * k, 2 * k + 2);
  }
  return colours;
}
