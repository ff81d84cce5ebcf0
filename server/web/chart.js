/** A line chart as SVG, with axes, a band of uncertainty, values by pointer and keyboard, and all values as a table. */

import { el, svg } from "./dom.js";
import { number } from "./format.js";
import { addWords, t } from "./words.js";

addWords({
  en: { chart_values: "Values as a table", chart_between: "{y} ({low} to {high})" },
  ja: { chart_values: "数値を表で見る", chart_between: "{y}（{low}～{high}）" },
});

/**
 * @typedef {object} Point
 * @property {number} x
 * @property {number} y
 * @property {number} [low] the band of uncertainty around y; with `high`
 * @property {number} [high]
 * @property {string} [label] what is said of this x, instead of its number
 */

/** @typedef {{name: string, points: Point[]}} Series points by ascending x */

/**
 * @typedef {object} Chart
 * @property {Series[]} series at least one point in all; three colours, then they repeat
 * @property {string} xLabel
 * @property {string} yLabel
 */

/** @typedef {{at: (value: number) => number, ticks: number[], digits: number}} Scale a value's place in pixels */

// In pixels, where the page's type has 16.
const HEIGHT = { min: 240, max: 420, share: 0.45 }; // share: of the width
const MARGIN = { top: 28, right: 14, bottom: 44, left: 56 };
const TICK = { x: 70, y: 34 }; // what a label on an axis needs
const COLOURS = 3; // classes chart-series-0 …
const KEYS = /** @type {Record<string, (index: number, last: number) => number>} */ ({
  ArrowLeft: (index) => index - 1,
  ArrowRight: (index) => index + 1,
  PageUp: (index, last) => index - Math.max(1, Math.round(last / 10)),
  PageDown: (index, last) => index + Math.max(1, Math.round(last / 10)),
  Home: () => 0,
  End: (_, last) => last,
});

/**
 * A chart that takes the width of its place. One x at a time is chosen, by pointer, or by arrow keys, Home and End while
 * the chart has the focus; its values are shown above the chart.
 * @param {Chart} chart
 * @returns {HTMLElement}
 */
export function lineChart(chart) {
  const xs = [...new Set(chart.series.flatMap(({ points }) => points.map(({ x }) => x)))].sort((a, b) => a - b);
  const digits = digitsOf(chart);
  const readout = el("p", { class: "chart-readout" });
  const canvas = svg("svg", {
    class: "chart-canvas",
    role: "slider",
    tabindex: 0,
    "aria-label": `${chart.yLabel}, ${chart.xLabel}`,
    "aria-valuemin": 0,
    "aria-valuemax": xs.length - 1,
  });
  let chosen = xs.length - 1;
  let width = 0;
  /** @type {Scale} */
  let xScale;
  /** @type {SVGElement} */
  let cursor;

  /** @param {number} index */
  const choose = (index) => {
    chosen = Math.max(0, Math.min(xs.length - 1, index));
    const text = describe(chart, xs[chosen], digits);
    readout.replaceChildren(...text);
    canvas.setAttribute("aria-valuenow", String(chosen));
    canvas.setAttribute("aria-valuetext", text.map((part) => part.textContent).join(", "));
    if (width) moveCursor(cursor, xScale.at(xs[chosen]));
  };
  const draw = () => {
    const drawn = drawing(chart, xs, width);
    ({ xScale, cursor } = drawn);
    canvas.setAttribute("viewBox", `0 0 ${width} ${drawn.height}`);
    canvas.replaceChildren(...drawn.nodes);
    choose(chosen);
  };
  canvas.addEventListener("keydown", (event) => {
    const move = KEYS[event.key];
    if (!move || event.ctrlKey || event.altKey || event.metaKey) return;
    event.preventDefault();
    event.stopPropagation(); // a page may use the same keys
    choose(move(chosen, xs.length - 1));
  });
  const point = (/** @type {PointerEvent} */ event) => {
    const place = event.clientX - canvas.getBoundingClientRect().left;
    choose(nearest(xs, (x) => Math.abs(xScale.at(x) - place)));
  };
  canvas.addEventListener("pointermove", point);
  canvas.addEventListener("pointerdown", point);
  new ResizeObserver(([{ contentRect }]) => {
    if (contentRect.width === width || contentRect.width === 0) return;
    width = contentRect.width;
    draw();
  }).observe(canvas);
  choose(chosen);
  return el("figure", { class: "chart" }, readout, canvas, tableOf(chart, xs, digits));
}

/**
 * The index of the value with the smallest distance.
 * @param {number[]} values not empty
 * @param {(value: number) => number} distance
 */
function nearest(values, distance) {
  return values.reduce((best, value, index) => (distance(value) < distance(values[best]) ? index : best), 0);
}

/**
 * The digits after the point that tell the values of a chart apart.
 * @param {Chart} chart
 */
function digitsOf({ series }) {
  const ys = series.flatMap(({ points }) => points.map(({ y }) => y));
  return ys.every(Number.isInteger) ? 0 : 1;
}

/** @param {Point} point @param {number} digits */
function valueText({ y, low, high }, digits) {
  if (low === undefined || high === undefined) return number(y, digits);
  return t("chart_between", { y: number(y, digits), low: number(low, digits), high: number(high, digits) });
}

/**
 * What is said of an x: its label, and the values there.
 * @param {Chart} chart
 * @param {number} x
 * @param {number} digits
 * @returns {HTMLElement[]}
 */
function describe({ series, xLabel }, x, digits) {
  const here = series.map(({ points }) => points.find((point) => point.x === x));
  const label = here.find((point) => point?.label)?.label ?? `${xLabel} ${number(x, 0)}`;
  const values = here.flatMap((point, index) => {
    if (!point) return [];
    const colour = `chart-value chart-series-${index % COLOURS}`;
    const name = series.length > 1 ? `${series[index].name} ` : "";
    return [el("span", { class: colour }, name, el("strong", {}, valueText(point, digits)))];
  });
  return [el("span", {}, label), ...values];
}

/**
 * All values, for those who cannot see the chart.
 * @param {Chart} chart
 * @param {number[]} xs
 * @param {number} digits
 */
function tableOf({ series, xLabel, yLabel }, xs, digits) {
  const heads = [xLabel, ...series.map(({ name }) => (series.length > 1 ? name : yLabel))];
  const details = el("details", { class: "chart-table" }, el("summary", {}, t("chart_values")));
  const fill = () => {
    const rows = xs.map((x) => {
      const here = series.map(({ points }) => points.find((point) => point.x === x));
      const label = here.find((point) => point?.label)?.label ?? number(x, 0);
      const cells = here.map((point) => el("td", {}, point ? valueText(point, digits) : "–"));
      return el("tr", {}, el("th", { scope: "row" }, label), cells);
    });
    const head = el(
      "thead",
      {},
      el(
        "tr",
        {},
        heads.map((text) => el("th", { scope: "col" }, text)),
      ),
    );
    const table = el("table", {}, head, el("tbody", {}, rows));
    details.append(el("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": t("chart_values") }, table));
  };
  details.addEventListener("toggle", fill, { once: true }); // most people never open it
  return details;
}

/**
 * The parts of a chart that is `width` pixels wide.
 * @param {Chart} chart
 * @param {number[]} xs
 * @param {number} width
 */
function drawing({ series, xLabel, yLabel }, xs, width) {
  const unit = Number.parseFloat(getComputedStyle(document.documentElement).fontSize) / 16;
  const height = Math.round(Math.max(HEIGHT.min * unit, Math.min(HEIGHT.max * unit, width * HEIGHT.share)));
  const [left, right] = [MARGIN.left * unit, width - MARGIN.right * unit];
  const [top, bottom] = [MARGIN.top * unit, height - MARGIN.bottom * unit];
  const ys = series.flatMap(({ points }) => points.flatMap(({ y, low = y, high = y }) => [y, low, high]));
  const integers = xs.every(Number.isInteger);
  const xScale = scale(xs, left, right, TICK.x * unit, { whole: integers, nice: false });
  const yScale = scale(ys, bottom, top, TICK.y * unit, { whole: false, nice: true });
  const grid = yScale.ticks.flatMap((value) => {
    const y = yScale.at(value);
    return [
      svg("line", { class: "chart-grid", x1: left, x2: right, y1: y, y2: y }),
      svg(
        "text",
        { class: "chart-tick", x: left - 8 * unit, y: y + 4 * unit, "text-anchor": "end" },
        number(value, yScale.digits),
      ),
    ];
  });
  const below = xScale.ticks.map((value) => {
    const place = { x: xScale.at(value), y: bottom + 18 * unit, "text-anchor": "middle" };
    return svg("text", { class: "chart-tick", ...place }, number(value, xScale.digits));
  });
  const names = [
    svg("text", { class: "chart-label", x: right, y: height - 6 * unit, "text-anchor": "end" }, xLabel),
    svg("text", { class: "chart-label", x: 0, y: 12 * unit }, yLabel),
  ];
  const lines = series.flatMap(({ points }, index) =>
    lineOf(points, `chart-series-${index % COLOURS}`, xScale, yScale),
  );
  const cursor = svg("line", { class: "chart-cursor", y1: top, y2: bottom });
  return { nodes: [...grid, ...below, ...lines, cursor, ...names], xScale, cursor, height };
}

/** @param {SVGElement} cursor @param {number} x */
function moveCursor(cursor, x) {
  cursor.setAttribute("x1", String(x));
  cursor.setAttribute("x2", String(x));
}

/**
 * A line, a point for each value, and the band around it.
 * @param {Point[]} points
 * @param {string} colour
 * @param {Scale} xScale
 * @param {Scale} yScale
 * @returns {SVGElement[]}
 */
function lineOf(points, colour, xScale, yScale) {
  const path = (/** @type {[number, number][]} */ values) =>
    values.map(([x, y]) => `${round(xScale.at(x))},${round(yScale.at(y))}`).join(" ");
  const uncertain = points.flatMap(({ x, low, high }) =>
    low === undefined || high === undefined ? [] : [{ x, low, high }],
  );
  const around = path([
    ...uncertain.map(({ x, high }) => /** @type {[number, number]} */ ([x, high])),
    ...uncertain.toReversed().map(({ x, low }) => /** @type {[number, number]} */ ([x, low])),
  ]);
  const line = path(points.map(({ x, y }) => [x, y]));
  const dots = points.map(({ x, y }) => {
    const place = { cx: round(xScale.at(x)), cy: round(yScale.at(y)), r: points.length > 60 ? 1 : 2.5 };
    return svg("circle", { class: `chart-dot ${colour}`, ...place });
  });
  const band = uncertain.length ? [svg("polygon", { class: `chart-band ${colour}`, points: around })] : [];
  return [...band, svg("polyline", { class: `chart-line ${colour}`, points: line }), ...dots];
}

/** @param {number} pixels to a tenth, which keeps the paths short */
function round(pixels) {
  return Math.round(pixels * 10) / 10;
}

/**
 * The scale of an axis from pixel `from` to pixel `to`.
 * @param {number[]} values
 * @param {number} from
 * @param {number} to
 * @param {number} room pixels that a tick needs
 * @param {{whole: boolean, nice: boolean}} options whole: ticks at whole numbers only; nice: the axis ends at ticks
 * @returns {Scale}
 */
function scale(values, from, to, room, { whole, nice }) {
  let low = Math.min(...values);
  let high = Math.max(...values);
  const margin = low === high ? Math.max(1, Math.abs(low) / 2) : 0;
  [low, high] = [low - margin, high + margin];
  const step = niceStep((high - low) / Math.max(1, Math.floor(Math.abs(to - from) / room)), whole);
  if (nice) [low, high] = [Math.floor(low / step) * step, Math.ceil(high / step) * step];
  const first = Math.ceil(low / step - 1e-9);
  const last = Math.floor(high / step + 1e-9);
  const ticks = Array.from({ length: last - first + 1 }, (_, index) => (first + index) * step);
  const digits = Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
  return { at: (value) => from + ((value - low) / (high - low)) * (to - from), ticks, digits };
}

/**
 * The smallest of 1, 2, 5, 10, 20 … that is at least `step`.
 * @param {number} step
 * @param {boolean} whole at least 1
 */
function niceStep(step, whole) {
  const least = whole ? Math.max(1, step) : step;
  const unit = 10 ** Math.floor(Math.log10(least));
  return ([1, 2, 5].find((factor) => factor * unit >= least * (1 - 1e-9)) ?? 10) * unit;
}
