/** The scores beside a replay: after each round that is over at its place, or of the whole game. */

import { lineChart } from "./chart.js";
import { el, nameParts } from "./dom.js";
import { number, signed } from "./format.js";
import { browserStorage } from "./storage.js";
import { shortRoundName } from "./table_words.js";
import { t } from "./words.js";

/** @typedef {import("./record.js").Timeline} Timeline */

const WHOLE = "nukidora.whole_game"; // key of the browser's storage

/** A chart, and a table whose rows lead to the rounds. What has not happened yet is hidden, unless it is asked for. */
export class ScorePanel {
  #chart = el("div");
  #whole = el("input", { type: "checkbox", checked: browserStorage.getItem(WHOLE) === "1" });
  #over = -1; // rounds that are shown

  /** @param {Timeline} timeline @param {(place: number) => void} go @param {() => void} turned the switch, see `whole` */
  constructor(timeline, go, turned) {
    this.timeline = timeline;
    this.rows = timeline.rounds.map(({ first }, index) => row(timeline, index, () => go(first)));
    const names = timeline.latest.seats.map(({ name }) => name);
    const heads = names.map((name) => el("th", { scope: "col" }, el("div", { class: "cut-name" }, nameParts(name))));
    const head = el("thead", {}, el("tr", {}, el("th", { scope: "col" }, t("replay_round")), heads));
    this.table = el(
      "div",
      { class: "scroll", tabindex: 0, role: "region", "aria-label": t("replay_scores") },
      el("table", {}, head, el("tbody", {}, this.rows)),
    );
    this.#whole.addEventListener("change", () => {
      browserStorage.setItem(WHOLE, this.#whole.checked ? "1" : "");
      turned();
    });
    this.element = el(
      "section",
      { class: "scores" },
      el("h2", {}, t("replay_scores")),
      el("label", {}, this.#whole, " ", t("replay_whole_game")),
      this.#chart,
      this.table,
    );
  }

  /** Whether what happens after the place may be shown. */
  get whole() {
    return this.#whole.checked;
  }

  /** Show the rounds that are over at a place. @param {number} place */
  show(place) {
    const over = this.timeline.roundsOver(this.whole ? this.timeline.last : place);
    if (over === this.#over) return;
    this.#over = over;
    const chosen = document.activeElement;
    const inChart = this.#chart.contains(chosen);
    const opened = this.#chart.querySelector("details")?.open;
    this.table.hidden = over === 0;
    for (const [index, each] of this.rows.entries()) each.hidden = index >= over;
    this.#chart.replaceChildren(...(over ? [chart(this.timeline, over)] : []));
    if (opened) this.#chart.querySelector("details")?.setAttribute("open", "");
    if (inChart && over) this.#chart.querySelector("svg")?.focus({ preventScroll: true });
    else if (inChart || this.rows.some((each) => each.hidden && each.contains(chosen))) this.focus();
  }

  /** Put the focus on the switch: what had it is gone. */
  focus() {
    this.#whole.focus({ preventScroll: true });
  }
}

/** The scores after a round. @param {Timeline} timeline @param {number} index @param {() => void} go to its start */
function row(timeline, index, go) {
  const { round } = timeline.rounds[index];
  const cells = timeline.scoresAfter(index).map((score, seat) => {
    return el("td", {}, number(score), " ", changeText(score - round.startScores[seat]));
  });
  const jump = el("button", { type: "button", class: "quiet", onclick: go }, shortRoundName(round));
  return el("tr", {}, el("th", { scope: "row" }, jump), cells);
}

/** @param {number} change of a score */
export function changeText(change) {
  const sign = change > 0 ? "up" : change < 0 ? "down" : "same";
  return el("small", { class: `change ${sign}` }, change ? signed(change) : "");
}

/** The scores at the start and after each of the first rounds. @param {Timeline} timeline @param {number} over how many */
function chart({ latest, rounds }, over) {
  const series = latest.seats.map(({ name, score }, seat) => {
    const starts = rounds.map(({ round }, x) => ({ x, y: round.startScores[seat], label: shortRoundName(round) }));
    const all = [...starts, { x: rounds.length, y: score, label: t("replay_end") }];
    return { name, points: all.slice(0, over + 1) };
  });
  return lineChart({ series, xLabel: t("replay_round"), yLabel: t("replay_points") });
}
