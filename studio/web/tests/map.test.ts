import { describe, expect, it } from "vitest";
import { HOME, pan, toScreen, toWorld, zoomAt } from "../src/map/camera";
import { type Cloud, linesOf } from "../src/map/cloud";
import { sceneOf } from "../src/map/colours";
import { Grid } from "../src/map/grid";
import { inside } from "../src/map/lasso";
import { BROKEN, clusterColour, clusterCss, GREY_LIGHT } from "../src/map/palette";

let seed = 7;
const random = (): number => (seed = (seed * 48271) % 2147483647) / 2147483647;
const cloudOf = (n: number): Float32Array => Float32Array.from({ length: 2 * n }, () => 2 * random() - 1);
const SIZE = { width: 640, height: 400 };

describe("the camera", () => {
  it("goes to the screen and back", () => {
    const camera = { x: 0.2, y: -0.3, zoom: 3 };
    const [x, y] = toWorld(camera, SIZE, toScreen(camera, SIZE, [0.41, -0.1]));
    expect(x).toBeCloseTo(0.41);
    expect(y).toBeCloseTo(-0.1);
  });

  it("keeps what is under the pointer when zooming, and moves with it when panning", () => {
    const before = toWorld(HOME, SIZE, [100, 90]);
    expect(toScreen(zoomAt(HOME, SIZE, [100, 90], 2.5), SIZE, before)[0]).toBeCloseTo(100);
    expect(toScreen(pan(HOME, SIZE, 30, -12), SIZE, before)).toEqual([130, 78].map((v) => expect.closeTo(v) as number));
  });
});

describe("picking", () => {
  it("finds the nearest point, as looking at all of them does", () => {
    for (const n of [0, 1, 5, 800]) {
      const positions = cloudOf(n);
      const grid = new Grid(positions);
      for (let round = 0; round < 60; round++) {
        const [x, y, radius] = [2.4 * random() - 1.2, 2.4 * random() - 1.2, 0.3 * random()];
        const far = Array.from({ length: n }, (_, i) => Math.hypot(positions[2 * i]! - x, positions[2 * i + 1]! - y));
        const near = far.map((d, i) => [d, i] as const).filter(([d]) => d <= radius).sort((a, b) => a[0] - b[0]);
        expect(grid.nearest([x, y], radius)).toBe(near[0]?.[1] ?? -1);
        expect([...grid.within([x, y], radius)]).toEqual(near.map(([, i]) => i).sort((a, b) => a - b));
      }
    }
  });

  it("selects what a lasso surrounds: a square with a corner cut off", () => {
    const positions = cloudOf(500);
    const found = new Set(inside(positions, [[-0.5, -0.5], [0.5, -0.5], [0.5, 0.5], [0, 0.5], [-0.5, 0]]));
    for (let i = 0; i < 500; i++) {
      const [x, y] = [positions[2 * i]!, positions[2 * i + 1]!];
      expect(found.has(i)).toBe(Math.abs(x) < 0.5 && Math.abs(y) < 0.5 && y < x + 0.5);
    }
    expect(found.size).toBeGreaterThan(50);
    expect(inside(positions, [[0, 0], [1, 1]])).toHaveLength(0);
  });
});

describe("the scene", () => {
  const cloud: Cloud = {
    n: 4,
    loaded: 3,
    positions: Float32Array.from([0, 0, 0.5, 0, 0, 0.5, 0, 0]),
    rows: Uint32Array.from([7, 2, 9, 0]),
    clusters: Int32Array.from([0, 1, -1, -1]),
    version: 1,
  };

  it("leaves unselected points grey but there", () => {
    const none = { lines: new Float32Array(0), signs: new Int8Array(0), broken: new Uint8Array(0) };
    const scene = sceneOf(cloud, Uint32Array.of(1), none, false);
    expect([...scene.colours]).toEqual([GREY_LIGHT, clusterColour(1, false), GREY_LIGHT]);
    expect(GREY_LIGHT >>> 24).toBeGreaterThan(60); // visible
    expect([...sceneOf(cloud, new Uint32Array(0), none, false).colours]).toEqual([0, 1, -1].map((k) => clusterColour(k, false)));
  });

  it("draws pairs by row numbers, broken ones red, and leaves out what is not loaded", () => {
    const found = linesOf(cloud, [[9, 7, 1, 1], [2, 9, -1, 0], [0, 2, 1, 0]]);
    expect([...found.lines]).toEqual([0, 0.5, 0, 0, 0.5, 0, 0, 0.5]);
    const { lineColours } = sceneOf(cloud, new Uint32Array(0), found, false);
    expect(lineColours[0]).toBe(BROKEN);
    expect(lineColours[2]).not.toBe(BROKEN);
  });
});

describe("colours of clusters", () => {
  it("are no two alike among the first thousand", () => {
    expect(new Set(Array.from({ length: 1000 }, (_, cluster) => clusterColour(cluster, false))).size).toBeGreaterThan(990);
  });

  it("shows a cluster beside the map in the colour of its points, in the dark too", () => {
    for (const dark of [false, true]) {
      for (const cluster of [-1, 0, 7, 100]) {
        const seen = clusterColour(cluster, dark);
        expect(clusterCss(cluster, dark)).toBe(`rgb(${[0, 8, 16].map((by) => (seen >> by) & 255).join(", ")})`);
      }
    }
    expect(clusterCss(3, true)).not.toBe(clusterCss(3, false));
  });
});
