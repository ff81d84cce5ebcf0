/** The place of a replay in the fragment of the URL: `#round=2&step=17&seat=1&hands=open`. */

import { el } from "./dom.js";
import { t } from "./words.js";

const PAUSE = 250; // milliseconds between writes: browsers refuse more than some a second

/**
 * @typedef {object} Shown
 * @property {number} round index of the round, -1 if it is not given
 * @property {number} step messages since its `start_kyoku`
 * @property {number} seat at the bottom
 * @property {boolean | null} open whether hands are open; null if it is not given
 */

/** @returns {Shown} */
export function readFragment() {
  const keys = new URLSearchParams(location.hash.slice(1));
  const count = (/** @type {string} */ key, /** @type {number} */ missing) =>
    /^\d{1,6}$/.test(keys.get(key) ?? "") ? Number(keys.get(key)) : missing;
  const hands = keys.get("hands");
  return {
    round: count("round", -1),
    step: count("step", 0),
    seat: Math.min(count("seat", 0), 2),
    open: hands === "open" || hands === "closed" ? hands === "open" : null,
  };
}

let timer = 0;
let written = "";

/** Write the place soon, the newest only. @param {Record<string, string | number>} keys */
export function writeFragment(keys) {
  written = `#${new URLSearchParams(Object.entries(keys).map(([key, value]) => [key, String(value)]))}`;
  timer ||= setTimeout(writeNow, PAUSE);
}

/** Write what is still to be written. */
export function writeNow() {
  clearTimeout(timer);
  timer = 0;
  if (written && written !== location.hash) history.replaceState(null, "", written);
}

/** A button that copies the URL with the place. */
export function copyButton() {
  const copy = async () => {
    writeNow();
    try {
      await navigator.clipboard.writeText(location.href);
      button.textContent = t("replay_copied");
    } catch {
      const field = el("input", { readonly: true, value: location.href, "aria-label": t("replay_link") });
      button.replaceWith(field); // over plain HTTP browsers let no page write to the clipboard
      field.select();
    }
  };
  const button = el("button", { type: "button", "data-control": "copy", onclick: copy }, t("replay_copy"));
  return button;
}
