/** The page for a position: `#hand=…` holds it, so that the address can be shared. */

import "./words_position.js";
import { ApiError, get, post } from "./api.js";
import { el } from "./dom.js";
import { clearError, showError, startPage } from "./page.js";
import { PositionForm } from "./position_form.js";
import { readPosition, writePosition } from "./position_text.js";
import { PositionView } from "./position_view.js";
import { t } from "./words.js";

/** @typedef {import("./position_text.js").Position} Position */

// While the server is busy with another position or record of this address, or too many.
const RETRIES = 10;
const RETRY_DELAY = 1000; // milliseconds
const SLOW = 4000; // milliseconds after which the page says why it may take long

let newest = 0; // counts what was asked for: only the last one is shown
const main = startPage(t("pos_title"));
const found = el("div", { class: "position-found" });
main.classList.add("position-page");
const { review_bots: bots } = await get("/api/server");
const form = new PositionForm(bots, (position, chosen) => {
  const fragment = `#${writePosition(position, chosen)}`;
  if (fragment !== location.hash) history.pushState(null, "", fragment);
  analyse(position, chosen);
});
main.append(el("h1", {}, t("pos_title")), el("p", { class: "muted" }, t("pos_intro")), form.element, found);
addEventListener("hashchange", follow);
follow();

/** Show the position in the address. */
function follow() {
  const { position, bots: named } = readPosition(location.hash);
  if (named.length) form.choose(named);
  if (!position) return;
  form.fill(position);
  history.replaceState(null, "", `#${writePosition(form.read(), form.chosen())}`); // with the bots: as it is shown
  analyse(form.read(), form.chosen());
}

/** @param {Position} position @param {string[]} chosen bots */
async function analyse(position, chosen) {
  const shown = ++newest;
  clearError();
  form.mark("");
  const working = el("p", { role: "status" }, t("pos_working"));
  if (found.childElementCount) found.setAttribute("aria-busy", "true");
  else found.replaceChildren(working);
  const slow = setTimeout(() => {
    if (shown !== newest) return;
    working.textContent = t("pos_slow");
    found.prepend(working);
  }, SLOW);
  try {
    const analysis = await ask({ position, bots: chosen }, () => shown === newest);
    if (shown !== newest || !analysis) return;
    found.replaceChildren(new PositionView(analysis).element);
    found.scrollIntoView({ block: "start" });
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    if (shown !== newest) return;
    found.replaceChildren();
    showError(error.message);
    form.mark(error.problem.detail);
  } finally {
    clearTimeout(slow);
    if (shown === newest) found.removeAttribute("aria-busy");
  }
}

/**
 * Ask the server, again while it is busy.
 * @param {{position: Position, bots: string[]}} body
 * @param {() => boolean} wanted whether the answer still is
 */
async function ask(body, wanted) {
  for (let left = RETRIES; wanted(); left--) {
    try {
      return await post("/api/positions", body);
    } catch (error) {
      if (!(error instanceof ApiError) || error.status !== 429 || left === 0) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, RETRY_DELAY));
  }
  return null;
}
