import type { Studio } from "../state/studio";
import type { MapFacts, MapPair } from "../api/types";

const CHUNK = 100_000;

/** All points of a layout, in an order whose every beginning is a fair sample. */
export interface Cloud {
  readonly n: number;
  /** Grows as points arrive. */
  readonly loaded: number;
  readonly positions: Float32Array;
  /** Row number of each point. */
  readonly rows: Uint32Array;
  /** Cluster number of each point, -1 for none. */
  readonly clusters: Int32Array;
  /** Of the clustering that they are of. */
  readonly version: number;
}

async function bytes(studio: Studio, name: string, body: Record<string, unknown>): Promise<{ buffer: ArrayBuffer; dtype: string }> {
  return studio.transport.bytes(name, body);
}

/** Positions in stretches; `arrived` is called after each, `gone` says whether anybody still waits. */
export async function loadCloud(studio: Studio, facts: MapFacts, layout: string, arrived: (cloud: Cloud) => void, gone: () => boolean): Promise<void> {
  const { n } = facts;
  const cloud = { n, loaded: 0, positions: new Float32Array(2 * n), rows: new Uint32Array(n), clusters: new Int32Array(n).fill(-1), version: facts.version };
  for (let start = 0; start < n && !gone(); start += CHUNK) {
    const stop = Math.min(n, start + CHUNK);
    const [points, order, clusters] = await Promise.all([
      bytes(studio, "points", { layout, start, stop }),
      bytes(studio, "order", { start, stop }),
      clustersOf(studio, facts, start, stop),
    ]);
    cloud.positions.set(new Float32Array(points.buffer), 2 * start);
    cloud.rows.set(new Uint32Array(order.buffer), start);
    cloud.clusters.set(clusters, start);
    cloud.loaded = stop;
    if (!gone()) arrived({ ...cloud });
  }
}

/** Clusters of all points, after a fit has changed them. */
export async function loadClusters(studio: Studio, facts: MapFacts): Promise<Int32Array> {
  const clusters = new Int32Array(facts.n);
  for (let start = 0; start < facts.n; start += CHUNK) {
    clusters.set(await clustersOf(studio, facts, start, Math.min(facts.n, start + CHUNK)), start);
  }
  return clusters;
}

async function clustersOf(studio: Studio, facts: MapFacts, start: number, stop: number): Promise<Int32Array> {
  const { buffer, dtype } = await bytes(studio, "map_labels", { start, stop });
  const places = dtype === "uint32" ? new Uint32Array(buffer) : new Uint16Array(buffer);
  return Int32Array.from(places, (place) => facts.numbers[place] ?? -1);
}

/** Places of the points of a cluster that have arrived. */
export function placesOf(cloud: Cloud, cluster: number): Uint32Array {
  const places: number[] = [];
  for (let at = 0; at < cloud.loaded; at++) if (cloud.clusters[at] === cluster) places.push(at);
  return Uint32Array.from(places);
}

/** Ends of the lines of pairs, and which of them are broken; pairs of points not loaded are left out. */
export function linesOf(cloud: Cloud, pairs: readonly MapPair[]): { lines: Float32Array; signs: Int8Array; broken: Uint8Array } {
  const places = new Map<number, number>();
  const wanted = new Set(pairs.flatMap(([i, j]) => [i, j]));
  for (let at = 0; at < cloud.loaded; at++) {
    if (wanted.has(cloud.rows[at]!)) places.set(cloud.rows[at]!, at);
  }
  const shown = pairs.filter(([i, j]) => places.has(i) && places.has(j));
  const lines = new Float32Array(4 * shown.length);
  shown.forEach(([i, j], k) => {
    for (const [end, row] of [i, j].entries()) {
      const at = places.get(row)!;
      lines[4 * k + 2 * end] = cloud.positions[2 * at]!;
      lines[4 * k + 2 * end + 1] = cloud.positions[2 * at + 1]!;
    }
  });
  return { lines, signs: Int8Array.from(shown, (pair) => pair[2]), broken: Uint8Array.from(shown, (pair) => pair[3]) };
}
