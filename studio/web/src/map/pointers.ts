import { useRef } from "preact/hooks";
import type { Point } from "./camera";
import type { Mode } from "./PointMap";

interface Gestures {
  readonly mode: Mode;
  pan(dx: number, dy: number): void;
  zoom(at: Point, factor: number): void;
  hover(at: Point): void;
  /** The lasso so far. */
  draw(path: readonly Point[]): void;
  /** The lasso is closed; a mere click is a path of one point. */
  close(path: readonly Point[], more: boolean): void;
  leave(): void;
}

function place(event: MouseEvent & { currentTarget: Element }): Point {
  const box = event.currentTarget.getBoundingClientRect();
  return [event.clientX - box.left, event.clientY - box.top];
}

const NEAR = 3; // px; closer points of a lasso tell nothing

/** Mouse, pen and fingers: drag, pinch, wheel, lasso (Shift adds; Shift also draws while panning). */
export function usePointers(gestures: Gestures) {
  const down = useRef(new Map<number, Point>());
  const path = useRef<Point[] | null>(null);
  const moved = useRef(false);

  const pinch = (id: number, at: Point): void => {
    const [other] = [...down.current].filter(([key]) => key !== id).map(([, point]) => point);
    const before = down.current.get(id);
    if (!other || !before) return;
    const apart = (a: Point, b: Point): number => Math.hypot(a[0] - b[0], a[1] - b[1]);
    gestures.zoom([(at[0] + other[0]) / 2, (at[1] + other[1]) / 2], apart(at, other) / Math.max(1, apart(before, other)));
  };

  return {
    onPointerDown(event: PointerEvent & { currentTarget: HTMLCanvasElement }): void {
      if (event.button !== 0) return;
      event.currentTarget.setPointerCapture(event.pointerId);
      down.current.set(event.pointerId, place(event));
      moved.current = false;
      const draws = gestures.mode === "lasso" || event.shiftKey;
      path.current = draws && down.current.size === 1 ? [place(event)] : null;
    },
    onPointerMove(event: PointerEvent & { currentTarget: HTMLCanvasElement }): void {
      const at = place(event);
      const before = down.current.get(event.pointerId);
      if (!before) return gestures.hover(at);
      const [dx, dy] = [at[0] - before[0], at[1] - before[1]];
      if (path.current) {
        const last = path.current.at(-1)!;
        if (Math.hypot(at[0] - last[0], at[1] - last[1]) < NEAR) return;
        path.current.push(at);
        return gestures.draw([...path.current]);
      }
      if (Math.hypot(dx, dy) > 1) moved.current = true;
      if (down.current.size === 2) pinch(event.pointerId, at);
      else gestures.pan(dx, dy);
      down.current.set(event.pointerId, at);
    },
    onPointerUp(event: PointerEvent & { currentTarget: HTMLCanvasElement }): void {
      down.current.delete(event.pointerId);
      if (path.current) gestures.close(path.current, event.shiftKey);
      else if (!moved.current) gestures.hover(place(event));
      path.current = null;
    },
    onPointerCancel(event: PointerEvent): void {
      down.current.delete(event.pointerId);
      path.current = null;
      gestures.draw([]);
    },
    onPointerLeave(): void {
      if (down.current.size === 0) gestures.leave();
    },
    onWheel(event: WheelEvent & { currentTarget: HTMLCanvasElement }): void {
      event.preventDefault();
      gestures.zoom(place(event), Math.exp(-event.deltaY * (event.deltaMode === 1 ? 0.05 : 0.0016)));
    },
  };
}
