/** Colours of clusters, in the order of their numbers; told apart in light and dark, and by most eyes. */
const HUES = [
  [38, 110, 190], [214, 108, 20], [27, 140, 90], [170, 60, 150], [190, 150, 10], [90, 80, 200],
  [200, 60, 70], [10, 150, 165], [120, 120, 40], [150, 90, 50], [80, 150, 40], [210, 90, 160],
] as const;

export const GREY_LIGHT = pack(150, 156, 166, 110);
export const GREY_DARK = pack(150, 158, 170, 130);
export const BROKEN = pack(222, 40, 50, 255);

export function pack(red: number, green: number, blue: number, alpha = 255): number {
  return ((alpha << 24) | (blue << 16) | (green << 8) | red) >>> 0;
}

/** Hue in degrees, saturation and lightness from 0 to 1. */
function hsl(hue: number, saturation: number, lightness: number): [number, number, number] {
  const reach = saturation * Math.min(lightness, 1 - lightness);
  const part = (at: number): number => {
    const k = (at + hue / 30) % 12;
    return Math.round(255 * (lightness - reach * Math.max(-1, Math.min(k - 3, 9 - k, 1))));
  };
  return [part(0), part(8), part(4)];
}

function rgb(cluster: number): readonly [number, number, number] {
  if (cluster < 0) return [140, 146, 156];
  if (cluster < HUES.length) return HUES[cluster]!;
  // Beyond the twelve every number has a hue and a lightness of its own: neither steps meet again, nor go along.
  return hsl((cluster * 137.508) % 360, 0.5, 0.42 + 0.2 * ((cluster * 0.754878) % 1));
}

/** Red, green and blue of a cluster, brighter where it is dark around; -1 is no cluster. */
function shown(cluster: number, dark: boolean): readonly [number, number, number] {
  const bright = (part: number): number => (dark ? Math.round(part + (255 - part) * 0.22) : part);
  const [red, green, blue] = rgb(cluster);
  return [bright(red), bright(green), bright(blue)];
}

/** 0xAABBGGRR of a cluster. */
export function clusterColour(cluster: number, dark: boolean): number {
  return pack(...shown(cluster, dark), 235);
}

/** The same as a CSS colour, for swatches. */
export function clusterCss(cluster: number, dark: boolean): string {
  return `rgb(${shown(cluster, dark).join(", ")})`;
}
