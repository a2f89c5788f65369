import { useEffect, useRef, useState } from "preact/hooks";
import type uPlot from "uplot";
import { formatTime } from "./shown.tsx";

type Library = typeof uPlot;

/** A third of the page's script; the rest of a screen does not wait for it. */
let library: Library | undefined;

function useLibrary(): Library | undefined {
  const [loaded, setLoaded] = useState(() => library);
  useEffect(() => {
    if (loaded) return;
    // A hall that is away sends no script; the next chart tries again.
    import("uplot").then(
      (module) => {
        library = module.default;
        setLoaded(() => library);
      },
      () => {},
    );
  }, []);
  return loaded;
}

export interface ChartSeries {
  readonly label: string;
  readonly values: readonly (number | null)[];
  readonly tone: "accent" | "bad" | "good" | "warn";
}

/** A line chart over time. Its label has the last values for those who cannot see it. */
export function Chart(props: {
  readonly label: string;
  /** Milliseconds since 1970. */
  readonly times: readonly number[];
  readonly series: readonly ChartSeries[];
}) {
  const { label, times, series } = props;
  const box = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot>(undefined);
  const latest = useRef(props);
  latest.current = props;
  const Plot = useLibrary();

  useEffect(() => {
    const element = box.current;
    if (!element || !Plot) return;
    const draw = (): void => {
      plot.current?.destroy();
      const { series: lines, times: at } = latest.current;
      plot.current = new Plot(optionsFor(element, lines), dataOf(at, lines), element);
    };
    draw();
    const observer = new ResizeObserver(() =>
      plot.current?.setSize({ width: element.clientWidth, height: element.clientHeight }),
    );
    observer.observe(element);
    const scheme = matchMedia("(prefers-color-scheme: dark)");
    scheme.addEventListener("change", draw);
    const theme = new MutationObserver(draw);
    theme.observe(document.documentElement, { attributeFilter: ["data-theme"] });
    return () => {
      observer.disconnect();
      theme.disconnect();
      scheme.removeEventListener("change", draw);
      plot.current?.destroy();
      plot.current = undefined;
    };
  }, [Plot, series.map((one) => one.label).join(" ")]);

  useEffect(() => plot.current?.setData(dataOf(times, series)), [times, series]);

  const last = series.map((one) => `${one.label} ${one.values.at(-1) ?? 0}`).join(", ");
  return (
    <>
      <div class="legend" aria-hidden="true">
        {series.map((one) => (
          <span key={one.label} style={{ "--tone": `var(--${one.tone})` }}>
            {one.label}
          </span>
        ))}
      </div>
      <div ref={box} class="chart" role="img" aria-label={`${label}: now ${last}`} />
    </>
  );
}

function dataOf(times: readonly number[], series: readonly ChartSeries[]): uPlot.AlignedData {
  return [times.map((at) => at / 1_000), ...series.map(({ values }) => [...values])];
}

function optionsFor(element: HTMLElement, series: readonly ChartSeries[]): uPlot.Options {
  const style = getComputedStyle(element);
  // light-dark() is resolved only in a property of an element.
  const colour = (name: string): string => {
    element.style.color = `var(${name})`;
    return getComputedStyle(element).color;
  };
  const font = `11px ${style.getPropertyValue("--font")}`;
  const axis = (): uPlot.Axis => ({
    stroke: colour("--text-faint"),
    font,
    grid: { stroke: colour("--line"), width: 1 },
    ticks: { show: false },
  });
  return {
    width: element.clientWidth,
    height: element.clientHeight,
    legend: { show: false },
    cursor: { points: { size: 6 }, drag: { x: false, y: false } },
    scales: { y: { range: (_plot, _min, max) => [0, Math.max(1, max * 1.15)] } },
    padding: [8, 18, 0, 0],
    axes: [
      { ...axis(), grid: { show: false }, size: 26, space: 70, values: clockTimes },
      { ...axis(), size: 40 },
    ],
    series: [
      {},
      ...series.map(({ label, tone }) => ({
        label,
        stroke: colour(`--${tone}`),
        width: 1.5,
        points: { show: false },
        fill: withAlpha(colour(`--${tone}`)),
      })),
    ],
  };
}

/** Above it, days say more than hours. */
const longS = 2 * 86_400;

function clockTimes(_plot: uPlot, splits: readonly number[]): string[] {
  const spanS = (splits.at(-1) ?? 0) - (splits[0] ?? 0);
  const isLong = spanS > longS;
  return splits.map((at) => formatTime(at * 1_000).slice(...(isLong ? [5, 10] : [11, 16])));
}

function withAlpha(colour: string): string {
  return colour.replace(/^rgb\((.*)\)$/, "rgba($1, 0.08)");
}
