import { type Camera, pixelsPerUnit, type Size } from "./camera";
import type { Renderer, Scene } from "./scene";

/** The same picture without WebGL: points are stamped into a buffer of pixels. */
export class CanvasRenderer implements Renderer {
  readonly kind = "canvas";
  private scene: Scene | null = null;
  private pixels: ImageData | null = null;

  private constructor(private readonly context: CanvasRenderingContext2D) {}

  static on(canvas: HTMLCanvasElement): CanvasRenderer | null {
    const context = canvas.getContext("2d");
    return context && new CanvasRenderer(context);
  }

  load(scene: Scene): void {
    this.scene = scene;
  }

  draw(camera: Camera, size: Size, ratio: number, from: number, to: number): void {
    const { scene, context } = this;
    const [width, height] = [Math.round(size.width * ratio), Math.round(size.height * ratio)];
    if (!scene || width < 1 || height < 1) return;
    if (this.pixels?.width !== width || this.pixels.height !== height) {
      this.pixels = new ImageData(width, height);
    }
    const buffer = new Uint32Array(this.pixels.data.buffer);
    if (from === 0) buffer.fill(0);
    const unit = pixelsPerUnit(camera, size) * ratio;
    const closer = Math.min(2.5, Math.max(1, camera.zoom ** 0.35));
    const view = { buffer, width, height, unit, camera, stamp: disc(scene.pointSize * ratio * closer) };
    for (let i = from; i < Math.min(to, scene.colours.length); i++) stampPoint(view, scene, i);
    for (const i of scene.raised) stampPoint(view, scene, i);
    context.putImageData(this.pixels, 0, 0);
    this.drawLines(scene, camera, unit, width, height, ratio); // pixels have none: lines are on top of all
  }

  private drawLines(scene: Scene, camera: Camera, unit: number, width: number, height: number, ratio: number): void {
    const { context } = this;
    context.lineWidth = 1.2 * ratio;
    for (let k = 0; k < scene.lineColours.length; k += 2) {
      const at = (end: number): [number, number] => [
        width / 2 + (scene.lines[2 * (k + end)]! - camera.x) * unit,
        height / 2 - (scene.lines[2 * (k + end) + 1]! - camera.y) * unit,
      ];
      context.strokeStyle = css(scene.lineColours[k]!);
      context.beginPath();
      context.moveTo(...at(0));
      context.lineTo(...at(1));
      context.stroke();
    }
  }

  finish(): void {
    // Pixels are put there by the processor, at once.
  }

  dispose(): void {
    this.scene = null;
    this.pixels = null;
  }
}

interface View {
  readonly buffer: Uint32Array;
  readonly width: number;
  readonly height: number;
  readonly unit: number;
  readonly camera: Camera;
  readonly stamp: readonly (readonly [number, number])[];
}

/** Half the width of a disc's row, for each row from the middle. */
function disc(diameter: number): (readonly [number, number])[] {
  const radius = Math.max(0.5, diameter / 2);
  const rows: [number, number][] = [];
  for (let dy = -Math.floor(radius); dy <= Math.floor(radius); dy++) {
    rows.push([dy, Math.floor(Math.sqrt(radius * radius - dy * dy))]);
  }
  return rows;
}

function stampPoint(view: View, scene: Scene, i: number): void {
  const { width, height, unit, camera, buffer } = view;
  const x = Math.round(width / 2 + (scene.positions[2 * i]! - camera.x) * unit);
  const y = Math.round(height / 2 - (scene.positions[2 * i + 1]! - camera.y) * unit);
  if (x < 0 || y < 0 || x >= width || y >= height) return;
  const colour = scene.colours[i]!;
  for (const [dy, half] of view.stamp) {
    const row = y + dy;
    if (row < 0 || row >= height) continue;
    const last = row * width + Math.min(width - 1, x + half);
    for (let at = row * width + Math.max(0, x - half); at <= last; at++) buffer[at] = colour;
  }
}

function css(colour: number): string {
  const byte = (shift: number): number => (colour >>> shift) & 255;
  return `rgba(${byte(0)}, ${byte(8)}, ${byte(16)}, ${byte(24) / 255})`;
}
