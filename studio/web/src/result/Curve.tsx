import { useEffect, useRef } from "preact/hooks";
import uPlot from "uplot";
import { useDark } from "../state/useDark";
import type { CurvePoint } from "../api/types";

const INK = {
  light: { accent: "#2557a7", second: "#b3541e", text: "#4a5260", rule: "#e4e7ec" },
  dark: { accent: "#8db4f0", second: "#f0a878", text: "#b4bcc8", rule: "#2c323c" },
};

/** Steps between ticks: there are no half answers. */
const WHOLE = [0, 1, 2, 3, 4, 5, 6].flatMap((power) => [1, 2, 5].map((step) => step * 10 ** power));

/** How stable the clusters are, and how well they foretold the answers, against the answers given. */
export function Curve({ points }: { points: readonly CurvePoint[] }) {
  const place = useRef<HTMLDivElement>(null);
  const dark = useDark();
  useEffect(() => {
    const element = place.current!;
    const ink = dark ? INK.dark : INK.light;
    const axis = { stroke: ink.text, grid: { stroke: ink.rule, width: 1 }, ticks: { stroke: ink.rule } };
    const share = (value: number | null): string => (value === null ? "" : `${Math.round(value * 100)}%`);
    const line = (label: string, stroke: string, dash: number[] = []) => ({
      label, stroke, width: 2, dash, spanGaps: true, points: { size: 5 },
      value: (_: uPlot, value: number | null) => share(value),
    });
    const plot = new uPlot(
      {
        width: element.clientWidth,
        height: 260,
        scales: { x: { time: false }, y: { range: [0, 1.02] } },
        axes: [
          { ...axis, label: "answers", labelSize: 22, incrs: WHOLE },
          { ...axis, values: (_, ticks) => ticks.map((tick) => share(tick)), size: 54 },
        ],
        series: [{ label: "answers", value: (_: uPlot, value: number | null) => (value === null ? "" : String(value)) }, line("stable from fit to fit", ink.accent), line("answers foreseen", ink.second, [6, 4])],
      },
      [
        points.map((point) => point.answers),
        points.map((point) => point.stability),
        points.map((point) => point.foreseen),
      ],
      element,
    );
    const watch = new ResizeObserver(() => plot.setSize({ width: element.clientWidth, height: 260 }));
    watch.observe(element);
    return () => {
      watch.disconnect();
      plot.destroy();
    };
  }, [points, dark]);
  const last = points.at(-1);
  const words = last
    ? `Learning curve of ${points.length} fits; the last, after ${last.answers} answers, has ${last.clusters} clusters.`
    : "Learning curve";
  return <div ref={place} class="curve" role="img" aria-label={words} />;
}
