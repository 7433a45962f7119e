import type { Camera, Size } from "./camera";

/** Everything that is drawn. Colours are 0xAABBGGRR, as both ImageData and WebGL want them. */
export interface Scene {
  /** x, y of every point, within -1 and 1. */
  readonly positions: Float32Array;
  readonly colours: Uint32Array;
  /** Drawn again on top of the others, in their own colours. */
  readonly raised: Uint32Array;
  /** x, y of both ends of every line. */
  readonly lines: Float32Array;
  readonly lineColours: Uint32Array;
  /** Diameter of a point in CSS pixels. */
  readonly pointSize: number;
}

export interface Renderer {
  readonly kind: "webgl" | "canvas";
  /** A new scene; kept until the next. */
  load(scene: Scene): void;
  /**
   * Draws the points `from` … `to` as the camera sees them, over those before; `ratio` device pixels for each
   * of `size`. The first of them (`from` 0) begin a new picture; lines come with the first and on top of the last.
   */
  draw(camera: Camera, size: Size, ratio: number, from: number, to: number): void;
  /** Returns when what was drawn is there: a graphics card may be far behind. */
  finish(): void;
  dispose(): void;
}

const FEWEST = 10_000;

/** As many points as the last frame says can be drawn in one, so that the map follows the hand. */
export function pointsAFrame(before: number, milliseconds: number): number {
  if (milliseconds < 8) return Math.min(2 * before, 2 ** 30);
  return milliseconds > 24 ? Math.max(FEWEST, Math.floor(before / 2)) : before;
}

/** Points get smaller as they get more, so that a crowd stays readable. */
export function pointSizeFor(count: number): number {
  if (count <= 300) return 10;
  if (count <= 3_000) return 7;
  if (count <= 30_000) return 4.5;
  return count <= 300_000 ? 3 : 2;
}
