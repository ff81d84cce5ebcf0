/** What the pages of players share: names, placements, and lists that grow page by page. */

import { get } from "./api.js";
import { el } from "./dom.js";
import { number, percent } from "./format.js";
import { showError } from "./page.js";
import { t } from "./words.js";

/** A link to a player's page. @param {string} name */
export function playerLink(name) {
  return el("a", { href: `/players/${encodeURIComponent(name)}`, class: "player-name", title: name }, name);
}

/**
 * A bar of three parts: how often somebody came first, second and third.
 * @param {{firsts: number, seconds: number, thirds: number}} counts
 */
export function placementBar({ firsts, seconds, thirds }) {
  const all = firsts + seconds + thirds;
  const shares = [firsts, seconds, thirds].map((count, index) => ({
    place: index + 1,
    share: all ? count / all : null,
  }));
  const text = shares.map(({ place, share }) => `${t(`players_place_${place}`)} ${percent(share)}`).join(", ");
  const parts = shares.map(({ place, share }) => {
    const part = el("span", { class: `placement-${place}` }, share && share >= 0.2 ? `${Math.round(100 * share)}` : "");
    part.style.setProperty("--share", String(share ?? 0));
    return part;
  });
  return el("span", { class: "placements", role: "img", "aria-label": text, title: text }, parts);
}

/**
 * The bar with what its parts mean, and the counts.
 * @param {{firsts: number, seconds: number, thirds: number}} counts
 */
export function placements(counts) {
  const { firsts, seconds, thirds } = counts;
  const all = firsts + seconds + thirds;
  const items = [firsts, seconds, thirds].map((count, index) =>
    el(
      "li",
      {},
      el("span", { class: `placement placement-${index + 1}` }, index + 1),
      ` ${percent(all ? count / all : null)} `,
      el("span", { class: "muted" }, `(${number(count)})`),
    ),
  );
  return el("div", {}, placementBar(counts), el("ul", { class: "row placements-legend" }, items));
}

/**
 * A list of the API: `load` shows the first page, the button each further one.
 * @param {string} path with a query, without cursor
 * @param {(items: any[]) => void} show adds a page
 * @returns {{button: HTMLButtonElement, load: () => Promise<void>}}
 */
export function pages(path, show) {
  let cursor = "";
  const load = async () => {
    button.disabled = true;
    try {
      const page = await get(`${path}&cursor=${encodeURIComponent(cursor)}`);
      show(page.items);
      cursor = page.next_cursor ?? "";
      button.hidden = cursor === "";
    } finally {
      button.disabled = false;
    }
  };
  const more = () => load().catch((error) => showError(error.message));
  const button = el("button", { type: "button", class: "player-more", hidden: true, onclick: more }, t("players_more"));
  return { button, load };
}

/** A table that may be wider than the page. @param {string} label @param {HTMLTableElement} table */
export function scrolled(label, table) {
  return el("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": label }, table);
}

/** The head of a column that says nothing to those who see it. @param {string} text */
export function unseenHead(text) {
  return el("span", { class: "hidden-text" }, text);
}

/** The head of a table. @param {[string | Node, string][]} columns content and class of each */
export function tableHead(columns) {
  return el(
    "thead",
    {},
    el(
      "tr",
      {},
      columns.map(([content, name]) => el("th", { scope: "col", class: name }, content)),
    ),
  );
}
