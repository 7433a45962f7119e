import type { Point } from "./camera";

/** Points sorted into square cells, so that the nearest one is found without looking at all. */
export class Grid {
  private readonly starts: Uint32Array;
  private readonly order: Uint32Array;
  private readonly side: number;

  constructor(private readonly positions: Float32Array) {
    const n = positions.length / 2;
    this.side = Math.max(1, Math.min(512, Math.ceil(Math.sqrt(n / 4))));
    this.starts = new Uint32Array(this.side * this.side + 1);
    this.order = new Uint32Array(n);
    const cells = new Uint32Array(n);
    for (let i = 0; i < n; i++) {
      const cell = this.column(positions[2 * i]!) + this.side * this.column(positions[2 * i + 1]!);
      cells[i] = cell;
      this.starts[cell + 1]!++;
    }
    for (let c = 0; c < this.side * this.side; c++) this.starts[c + 1]! += this.starts[c]!;
    const next = this.starts.slice();
    for (let i = 0; i < n; i++) this.order[next[cells[i]!]!++] = i;
  }

  private column(x: number): number {
    return Math.min(this.side - 1, Math.max(0, Math.floor(((x + 1) / 2) * this.side)));
  }

  /** Index of the point nearest to (x, y) within `radius`, or -1. */
  nearest([x, y]: Point, radius: number): number {
    let best = -1;
    let least = radius * radius;
    this.near([x, y], radius, (i, squared) => {
      if (squared <= least) {
        least = squared;
        best = i;
      }
    });
    return best;
  }

  /** Indices of all points within `radius` of (x, y), ascending. */
  within(centre: Point, radius: number): Uint32Array {
    const found: number[] = [];
    this.near(centre, radius, (i) => found.push(i));
    return Uint32Array.from(found).sort();
  }

  private near([x, y]: Point, radius: number, visit: (i: number, squared: number) => void): void {
    const limit = radius * radius;
    const [left, right] = [this.column(x - radius), this.column(x + radius)];
    const [bottom, top] = [this.column(y - radius), this.column(y + radius)];
    for (let row = bottom; row <= top; row++) {
      const first = this.starts[row * this.side + left]!;
      const last = this.starts[row * this.side + right + 1]!;
      for (let k = first; k < last; k++) {
        const i = this.order[k]!;
        const dx = this.positions[2 * i]! - x;
        const dy = this.positions[2 * i + 1]! - y;
        const squared = dx * dx + dy * dy;
        if (squared <= limit) visit(i, squared);
      }
    }
  }
}
