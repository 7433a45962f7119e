/** Where one looks: world coordinates (about -1 to 1) to pixels of the canvas and back. */
export interface Camera {
  readonly x: number;
  readonly y: number;
  /** 1: the unit square fills the smaller side. */
  readonly zoom: number;
}

export interface Size {
  readonly width: number;
  readonly height: number;
}

export type Point = readonly [number, number];

export const HOME: Camera = { x: 0, y: 0, zoom: 0.92 };
const NEAREST = 4000;
const FARTHEST = 0.2;

/** Pixels of one world unit. */
export function pixelsPerUnit(camera: Camera, size: Size): number {
  return (camera.zoom * Math.min(size.width, size.height)) / 2;
}

export function toScreen(camera: Camera, size: Size, [x, y]: Point): Point {
  const unit = pixelsPerUnit(camera, size);
  return [size.width / 2 + (x - camera.x) * unit, size.height / 2 - (y - camera.y) * unit];
}

export function toWorld(camera: Camera, size: Size, [px, py]: Point): Point {
  const unit = pixelsPerUnit(camera, size);
  return [camera.x + (px - size.width / 2) / unit, camera.y - (py - size.height / 2) / unit];
}

export function pan(camera: Camera, size: Size, dx: number, dy: number): Camera {
  const unit = pixelsPerUnit(camera, size);
  return { ...camera, x: camera.x - dx / unit, y: camera.y + dy / unit };
}

/** Nearer by `factor`; what is under the pixel `at` stays there. */
export function zoomAt(camera: Camera, size: Size, at: Point, factor: number): Camera {
  const zoom = Math.min(NEAREST, Math.max(FARTHEST, camera.zoom * factor));
  const [x, y] = toWorld(camera, size, at);
  const shrink = camera.zoom / zoom;
  return { x: x + (camera.x - x) * shrink, y: y + (camera.y - y) * shrink, zoom };
}
