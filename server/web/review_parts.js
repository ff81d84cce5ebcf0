/** The parts of a review: the bots' opinions on a decision, the table of all decisions, the accuracy. */

import "./words_review.js";
import { el } from "./dom.js";
import { percent } from "./format.js";
import { shortRoundName } from "./table_words.js";
import { tile } from "./tile.js";
import { t } from "./words.js";

/** @typedef {import("./mjai.js").Message} Message */
/** @typedef {import("./mjai.js").State} State */

/**
 * @typedef {object} Option an action that a bot may have evaluated
 * @property {Message} action an mjai reply
 * @property {number | null} value in placements, null: not evaluated
 * @property {number | null} prob
 */

/**
 * @typedef {object} Opinion
 * @property {number} best index in `actions`
 * @property {number} actual index in `actions`, -1 where nothing was played
 * @property {number | null} loss in placements, null: what was played was not evaluated
 * @property {Option[]} actions best first
 */

/**
 * @typedef {object} Decision
 * @property {number} message index of the message after which the seat decides
 * @property {number} round index of the round
 * @property {number} turn of the seat, from 1
 * @property {string} kind `discard`, `call`, …
 * @property {number} shanten -1: complete
 * @property {Message} actual
 * @property {Opinion[]} reviews by bot
 */

/**
 * @typedef {object} Figures
 * @property {number} decisions
 * @property {number} agreed
 * @property {number} accuracy
 * @property {number | null} mean_loss of the known losses
 * @property {number} unknown decisions without a known loss
 */
/** @typedef {Figures & {by_kind: Record<string, Figures>}} Summary */

/**
 * @typedef {object} Review what the server and `python -m agents.review` write (docs/web.md)
 * @property {string[]} names
 * @property {number} seat
 * @property {string[]} bots
 * @property {Decision[]} decisions
 * @property {Summary[]} summary by bot
 * @property {string[]} problems where the record departs from the rules
 * @property {Omit<import("./problem_text.js").Problem, "detail">[]} problem_codes of each problem
 * @property {string} cut_off where the record of a game that was cut off ends, else ""
 * @property {Omit<import("./problem_text.js").Problem, "detail">} cut_off_code of it
 * @property {{who: string, first: number, last: number | null}[]} handed_over_parts events from 1 that another played
 */

const MISTAKE = 0.01; // placements lost
const BLUNDER = 0.05;
const LEAST = 0.0001; // that is shown as a number
const TEMPERATURE = 0.02; // placements: the bar of an action of a bot without probabilities is exp(-loss / this)
const SHOWN = 7; // options of a decision, and the one that was played

/**
 * What a decision cost: by a bot, or by the other one where the bot has not evaluated what was played. Often that is an
 * action too bad to be considered, so that the costliest decisions would be the last ones.
 * @param {Decision} decision
 * @param {number} bot
 */
function lossOf({ reviews }, bot) {
  return reviews[bot].loss ?? reviews.find(({ loss }) => loss !== null)?.loss ?? null;
}

/** Whether a decision was a mistake, see `lossOf`. @param {Decision} decision @param {number} bot */
export function isMistake(decision, bot) {
  return (lossOf(decision, bot) ?? 0) >= MISTAKE;
}

/** An action as a text and tiles. @param {Message} action */
export function actionNode(action) {
  return el("span", { class: "review-action" }, actionParts(action));
}

/** @param {Message} action @returns {(string | SVGElement)[]} */
function actionParts({ type, actor, target, pai, consumed = [] }) {
  if (type === "dahai") return [tile(pai)];
  if (type === "hora") return [t(target === actor ? "review_act_tsumo" : "review_act_ron")];
  const tiles = type === "kakan" ? [pai] : type === "ankan" ? consumed.slice(0, 1) : consumed.slice(0, 2);
  return [t(`review_act_${type}`), ...tiles.map((/** @type {string} */ name) => tile(name))];
}

/** How much of its bar an option fills, 0 to 1. @param {Option} option @param {Opinion} opinion */
export function fill({ value, prob }, { best, actions }) {
  if (value === null) return 0;
  return prob ?? Math.exp((value - Number(actions[best].value)) / TEMPERATURE);
}

/** What a bot's number says, for a tooltip. @param {Option} option */
export function optionText({ value, prob }) {
  if (value === null) return t("review_unknown");
  const worth = t("review_value", { value: value.toFixed(4) });
  return prob === null ? worth : `${worth}, ${t("review_probability", { percent: percent(prob) })}`;
}

/** A loss in placements, coloured. @param {number | null} loss */
export function lossNode(loss) {
  if (loss === null) return el("span", { class: "muted", title: t("review_unknown") }, "–");
  if (loss > 0 && loss < LEAST) return el("span", { class: "muted" }, "≈0");
  const colour = loss >= BLUNDER ? "bad" : loss >= MISTAKE ? "warn" : "muted";
  return el("span", { class: colour }, loss ? `−${loss.toFixed(loss < MISTAKE ? 4 : 3)}` : "0");
}

/**
 * What a bot thinks of a decision: its best actions with bars, and the one that was played.
 * @param {string} bot
 * @param {Opinion} opinion
 */
export function opinionPanel(bot, opinion) {
  const { best, actual, loss, actions } = opinion;
  const rows = actions.flatMap((option, index) => {
    if (index >= SHOWN && index !== actual) return [];
    const bar = el("span", { class: "opinion-bar" });
    bar.style.setProperty("--fill", fill(option, opinion).toFixed(4));
    const { value } = option;
    const behind = value === null ? null : Number(actions[best].value) - value;
    const roles = [index === best && "best", index === actual && "played"].filter(Boolean).join(" ");
    return el(
      "li",
      { class: roles || null, title: optionText(option) },
      actionNode(option.action),
      bar,
      el("span", { class: "number" }, option.prob === null ? lossNode(behind) : percent(option.prob)),
      index === actual && el("span", { class: "chip" }, t("review_played")),
    );
  });
  const verdict =
    actual < 0 ? "" : actual === best ? el("span", { class: "good" }, t("review_agrees")) : lossNode(loss);
  return el(
    "section",
    { class: "opinion", "aria-label": t("review_opinion", { bot }), "data-bot": bot },
    el("h2", {}, el("span", {}, bot), verdict),
    el("ol", {}, rows),
  );
}

/** The round of a decision. @param {State} state before it */
export function roundOf({ round }) {
  return round ? shortRoundName(round) : "";
}

/** @param {number} shanten */
export function shantenText(shanten) {
  if (shanten > 0) return t("review_shanten", { n: shanten });
  return t(shanten === 0 ? "review_tenpai" : "review_complete");
}

/**
 * All decisions, those with the greatest loss first or in order.
 * @param {Review} review
 * @param {{bot: number, sorted: boolean}} order the bot whose losses sort them, or in the order of the game
 * @param {State[]} states after each message
 * @param {{go: (index: number) => void, sort: (bot: number) => void}} actions go to a decision; sort by the losses of a
 *   bot, -1: in order
 */
export function decisionTable(review, { bot, sorted }, states, { go, sort }) {
  const { bots, decisions } = review;
  const loss = (/** @type {number} */ index) => lossOf(decisions[index], bot) ?? -1;
  const order = decisions.map((_, index) => index);
  if (sorted) order.sort((a, b) => loss(b) - loss(a) || a - b);
  const head = (/** @type {string} */ text, /** @type {number} */ column) => {
    const chosen = sorted ? column === bot : column < 0;
    const direction = column < 0 ? "ascending" : "descending";
    const button = el("button", { type: "button", class: "quiet", onclick: () => sort(column) }, text);
    return el(
      "th",
      { scope: "col", "aria-sort": chosen ? direction : null, class: column < 0 ? null : "number" },
      button,
    );
  };
  const rows = order.map((index) => {
    const decision = decisions[index];
    const { actions, best } = decision.reviews[bot];
    const jump = el(
      "button",
      { type: "button", class: "quiet" },
      `${roundOf(states[decision.message])} · ${decision.turn}`,
    );
    return el(
      "tr",
      { "data-decision": index, onclick: () => go(index) },
      el("th", { scope: "row" }, jump),
      decision.reviews.map((opinion) => el("td", { class: "number" }, lossNode(opinion.loss))),
      el("td", {}, actionNode(decision.actual)),
      el("td", {}, actionNode(actions[best].action)),
      el("td", { class: "review-wide" }, t(`review_kind_${decision.kind}`)),
    );
  });
  const heads = [
    head(t("review_decision"), -1),
    ...bots.map((name, column) => head(t("review_loss", { bot: name }), column)),
    el("th", { scope: "col" }, t("review_actual")),
    el("th", { scope: "col" }, t("review_best", { bot: bots[bot] })),
    el("th", { scope: "col", class: "review-wide" }, t("review_kind")),
  ];
  return el("table", { class: "list" }, el("thead", {}, el("tr", {}, heads)), el("tbody", {}, rows));
}

/**
 * How many decisions the losses leave out, a line for each bot that leaves out any.
 * @param {{bots: string[], summary: Figures[]}} review
 */
export function unknownNotes({ bots, summary }) {
  return bots.flatMap((bot, index) => {
    const { unknown, decisions } = summary[index];
    return unknown ? [el("p", { class: "muted" }, t("review_unknown_count", { bot, n: unknown, m: decisions }))] : [];
  });
}

/** How often each bot agrees with what was played, and the mean loss, by kind of decision. @param {Review} review */
export function summaryTable({ bots, summary }) {
  const line = (/** @type {string} */ name, /** @type {Figures[]} */ figures) =>
    el(
      "tr",
      {},
      el("th", { scope: "row" }, name),
      el("td", { class: "number" }, figures[0].decisions),
      figures.flatMap(({ accuracy, mean_loss }) => [
        el("td", { class: "number" }, percent(accuracy)),
        el("td", { class: "number" }, lossNode(mean_loss)),
      ]),
    );
  const head = (/** @type {string} */ text) => el("th", { scope: "col", class: "number" }, text);
  const heads = bots.flatMap((bot) => [head(t("review_accuracy", { bot })), head(t("review_mean", { bot }))]);
  const kinds = Object.keys(summary[0].by_kind);
  return el(
    "table",
    { class: "list" },
    el("thead", {}, el("tr", {}, el("th", { scope: "col" }, t("review_kind")), head(t("review_count")), heads)),
    el("tbody", {}, [
      line(t("review_all"), summary),
      ...kinds.map((kind) =>
        line(
          t(`review_kind_${kind}`),
          summary.map(({ by_kind }) => by_kind[kind]),
        ),
      ),
    ]),
  );
}
