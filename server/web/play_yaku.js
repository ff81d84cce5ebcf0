/** The table of yaku that a player may look at while playing. */

import { el } from "./dom.js";
import { t } from "./words.js";
import { yakuName } from "./yaku.js";
import { yakuOf } from "./yaku_table.js";
import "./words_result.js";

/** @typedef {import("./mjai.js").State} State */
/** @typedef {ReturnType<typeof yakuOf>[number]} Row */

const YAKUMAN = 13;
const ORDER = ["has", "near", "", "lost"];
const SIGNS = { has: "●", near: "○", lost: "×", "": "" };

export class YakuPanel {
  /** @param {() => void} close */
  constructor(close) {
    const button = el("button", { type: "button", onclick: close }, t("play_yaku_close"));
    const head = ["play_yaku", "play_yaku_closed", "play_yaku_open"].map((key) => el("th", { scope: "col" }, t(key)));
    this.body = el("tbody");
    this.element = el(
      "section",
      { class: "play-yaku", hidden: true, "aria-label": t("play_yaku_title"), tabindex: "0" },
      el("header", {}, el("p", {}, t("play_yaku_signs")), button),
      el("table", {}, el("thead", {}, el("tr", {}, head)), this.body),
    );
  }

  /** @param {boolean} shown @param {State} state in which the viewer plays */
  show(shown, state) {
    this.element.hidden = !shown || state.viewer < 0;
    if (!this.element.hidden) {
      const rows = yakuOf(state).toSorted((one, other) => ORDER.indexOf(one.progress) - ORDER.indexOf(other.progress));
      this.body.replaceChildren(...rows.map(rowOf));
    }
  }
}

/** @param {Row} row */
function rowOf({ name, tile, closed, open, progress }) {
  const sign = el("span", { class: "yaku-sign", "aria-hidden": "true" }, SIGNS[progress]);
  const said = progress && el("span", { class: "hidden-text" }, ` (${t(`play_yaku_${progress}`)})`);
  return el(
    "tr",
    { class: progress ? `yaku-${progress}` : null, "data-yaku": tile || name },
    el("th", { scope: "row" }, sign, el("span", {}, yakuName(name, tile)), said),
    el("td", {}, hanText(closed)),
    el("td", {}, hanText(open)),
  );
}

/** @param {number} han */
function hanText(han) {
  if (han > YAKUMAN) return t("result_yakuman_times", { times: han / YAKUMAN });
  return han === YAKUMAN ? t("result_yakuman") : han || "–";
}
