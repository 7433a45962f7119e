import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { type Camera, HOME, pan, pixelsPerUnit, type Point, type Size, toScreen, toWorld, zoomAt } from "./camera";
import { CanvasRenderer } from "./canvas";
import { Grid } from "./grid";
import { inside } from "./lasso";
import { usePointers } from "./pointers";
import { pointsAFrame, type Renderer, type Scene } from "./scene";
import { WebGlRenderer } from "./webgl";

export type Mode = "pan" | "lasso";

interface Props {
  readonly scene: Scene;
  readonly mode: Mode;
  readonly label: string;
  /** Places in the scene of the points that were selected; `more`: added to what is selected. */
  select(places: Uint32Array, more: boolean): void;
  /** The point under the pointer (or in the middle, by keyboard), with where it is on the canvas. */
  hover(place: number, at: Point): void;
}

const AT_FIRST = 40_000; // points of a frame
const RETICLE = 28; // radius, in pixels, of what Enter selects

/** WebGL where a graphics card does it, else a canvas that draws the same; `?renderer=` insists on one. */
function rendererOn(canvas: HTMLCanvasElement): Renderer | null {
  const wanted = new URLSearchParams(location.search).get("renderer");
  if (wanted === "canvas") return CanvasRenderer.on(canvas);
  return WebGlRenderer.on(canvas, wanted === "webgl") ?? CanvasRenderer.on(canvas);
}

/** Made when it is first wanted. */
function lazy<T>(make: () => T): () => T {
  let made: { readonly value: T } | null = null;
  return () => (made ??= { value: make() }).value;
}

/** Points that can be moved, zoomed, hovered and selected, by pointer and by keyboard. */
export function PointMap({ scene, mode, label, select, hover }: Props) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const renderer = useRef<Renderer | null>(null);
  const frame = useRef(0);
  const enough = useRef(AT_FIRST);
  const [camera, setCamera] = useState<Camera>(HOME);
  const [size, setSize] = useState<Size>({ width: 0, height: 0 });
  const [lasso, setLasso] = useState<readonly Point[]>([]);
  const [focused, setFocused] = useState(false);
  const grid = useMemo(() => lazy(() => new Grid(scene.positions)), [scene.positions]); // points arrive: most are never asked

  useEffect(() => {
    const element = canvas.current!;
    renderer.current = rendererOn(element);
    element.dataset["renderer"] = renderer.current?.kind ?? "none";
    const watch = new ResizeObserver(() => setSize({ width: element.clientWidth, height: element.clientHeight }));
    watch.observe(element);
    return () => {
      watch.disconnect();
      cancelAnimationFrame(frame.current);
      renderer.current?.dispose();
    };
  }, []);

  useEffect(() => renderer.current?.load(scene), [scene]);

  // As many points as a frame can draw move with the hand; when it rests the others follow, frame by frame.
  const paint = (from: number): void => {
    cancelAnimationFrame(frame.current);
    frame.current = requestAnimationFrame(() => {
      const element = canvas.current;
      if (!element) return; // the page was left between asking for a frame and getting it
      const ratio = Math.min(2, devicePixelRatio);
      const [width, height] = [Math.round(size.width * ratio), Math.round(size.height * ratio)];
      if (element.width !== width || element.height !== height) [element.width, element.height] = [width, height];
      const count = scene.colours.length;
      const to = Math.min(count, from + enough.current);
      const begun = performance.now();
      renderer.current?.draw(camera, size, ratio, from, to);
      if (count > AT_FIRST) {
        renderer.current?.finish();
        enough.current = pointsAFrame(enough.current, performance.now() - begun);
      }
      element.dataset["drawn"] = String(to);
      element.dataset["frames"] = String(Number(element.dataset["frames"] ?? 0) + 1);
      if (to < count) paint(to);
    });
  };
  useEffect(() => paint(0), [scene, camera, size]);

  const pick = (at: Point, pixels = 8): void => {
    const reach = pixels / pixelsPerUnit(camera, size);
    const place = grid().nearest(toWorld(camera, size, at), reach);
    hover(place, place < 0 ? at : toScreen(camera, size, [scene.positions[2 * place]!, scene.positions[2 * place + 1]!]));
  };

  const pointers = usePointers({
    mode,
    pan: (dx, dy) => setCamera((old) => pan(old, size, dx, dy)),
    zoom: (at, factor) => setCamera((old) => zoomAt(old, size, at, factor)),
    hover: (at) => pick(at),
    draw: setLasso,
    close: (path, more) => {
      setLasso([]);
      if (path.length > 2) select(inside(scene.positions, path.map((at) => toWorld(camera, size, at))), more);
      else select(new Uint32Array(0), more);
    },
    leave: () => hover(-1, [0, 0]),
  });

  const middle: Point = [size.width / 2, size.height / 2];
  const onKeyDown = (event: KeyboardEvent): void => {
    const step = 40;
    const moves: Record<string, () => void> = {
      ArrowLeft: () => setCamera((old) => pan(old, size, step, 0)),
      ArrowRight: () => setCamera((old) => pan(old, size, -step, 0)),
      ArrowUp: () => setCamera((old) => pan(old, size, 0, step)),
      ArrowDown: () => setCamera((old) => pan(old, size, 0, -step)),
      "+": () => setCamera((old) => zoomAt(old, size, middle, 1.4)),
      "=": () => setCamera((old) => zoomAt(old, size, middle, 1.4)),
      "-": () => setCamera((old) => zoomAt(old, size, middle, 1 / 1.4)),
      "0": () => setCamera(HOME),
      Enter: () => select(grid().within(toWorld(camera, size, middle), RETICLE / pixelsPerUnit(camera, size)), event.shiftKey),
      " ": () => pick(middle, RETICLE),
    };
    const move = moves[event.key];
    if (!move || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    move();
  };

  return (
    <div class="map-frame">
      <canvas
        ref={canvas}
        class={`map-canvas ${mode}`}
        tabIndex={0}
        role="application"
        aria-label={`${label}. Arrow keys move, plus and minus zoom, 0 shows all, Enter selects the points in the ring, space reads the one nearest to its middle.`}
        onKeyDown={onKeyDown}
        onFocus={(event) => setFocused(event.currentTarget.matches(":focus-visible"))}
        onBlur={() => setFocused(false)}
        {...pointers}
      />
      <svg class="map-overlay" aria-hidden="true" width={size.width} height={size.height}>
        {lasso.length > 1 && <polygon class="lasso" points={lasso.map((at) => at.join(",")).join(" ")} />}
        {focused && <circle class="reticle" cx={middle[0]} cy={middle[1]} r={RETICLE} />}
      </svg>
      <div class="map-zoom" role="group" aria-label="Zoom">
        <button type="button" aria-label="Nearer" onClick={() => setCamera(zoomAt(camera, size, middle, 1.5))}>+</button>
        <button type="button" aria-label="Farther" onClick={() => setCamera(zoomAt(camera, size, middle, 1 / 1.5))}>−</button>
        <button type="button" aria-label="Show all" onClick={() => setCamera(HOME)}>⤢</button>
      </div>
    </div>
  );
}
