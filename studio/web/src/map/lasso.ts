import type { Point } from "./camera";

/** Indices of the points inside a closed polygon (even-odd rule), ascending. */
export function inside(positions: Float32Array, polygon: readonly Point[]): Uint32Array {
  if (polygon.length < 3) return new Uint32Array(0);
  const xs = Float64Array.from(polygon, (point) => point[0]);
  const ys = Float64Array.from(polygon, (point) => point[1]);
  const [left, right] = [Math.min(...xs), Math.max(...xs)];
  const [bottom, top] = [Math.min(...ys), Math.max(...ys)];
  const found: number[] = [];
  for (let i = 0; i < positions.length / 2; i++) {
    const x = positions[2 * i]!;
    const y = positions[2 * i + 1]!;
    if (x < left || x > right || y < bottom || y > top) continue;
    let within = false;
    for (let a = 0, b = xs.length - 1; a < xs.length; b = a++) {
      const crosses = ys[a]! > y !== ys[b]! > y;
      if (crosses && x < ((xs[b]! - xs[a]!) * (y - ys[a]!)) / (ys[b]! - ys[a]!) + xs[a]!) {
        within = !within;
      }
    }
    if (within) found.push(i);
  }
  return Uint32Array.from(found);
}
