/** The page of reviews: the bots and the seat are chosen, and the server's review is shown once it is done. */

import "./words_review.js";
import { ApiError, get, request } from "./api.js";
import { el } from "./dom.js";
import { showError, startPage } from "./page.js";
import { loadRecord } from "./record.js";
import { showReview } from "./review_view.js";
import { t } from "./words.js";

/** @typedef {import("./mjai.js").Message} Message */
/** @typedef {{seat: number, bots: string[]}} Wanted */

const BETWEEN = 500; // milliseconds between questions about the progress
const MOST_BOTS = 2;

const main = startPage();
const id = decodeURIComponent(location.pathname.split("/")[2]);
const found = el("div", {}, el("p", { role: "status" }, t("review_loading")));
let end = () => {};
let newest = 0; // counts what was asked for: only the last one is shown

main.classList.add("review-page");
main.append(found);
try {
  const [record, { review_bots: bots }] = await Promise.all([loadRecord(id), get("/api/server")]);
  start(
    record.filter(({ type }) => type !== "error"),
    bots,
  );
} catch (error) {
  fail(error);
}

/** Show the form, and the review that the fragment names. @param {Message[]} messages @param {string[]} bots */
function start(messages, bots) {
  if (!bots.length) return fail(new ApiError(t("review_none"), 0));
  const wanted = readFragment(bots);
  const select = (
    /** @type {string} */ name,
    /** @type {[string | number, string][]} */ options,
    /** @type {unknown} */ chosen,
  ) =>
    el(
      "select",
      { name },
      options.map(([value, text]) => el("option", { value, selected: value === chosen }, text)),
    );
  const names = bots.map((bot) => /** @type {[string, string]} */ ([bot, bot]));
  const [bot, other = ""] = wanted.bots.length ? wanted.bots : bots;
  const seats = messages[0].names.map((/** @type {string} */ name, /** @type {number} */ seat) => [seat, name]);
  const form = el(
    "form",
    { class: "row review-form" },
    el("label", {}, t("review_seat"), select("seat", seats, wanted.seat)),
    el("label", {}, t("review_bot"), select("bot", names, bot)),
    el("label", {}, t("review_beside"), select("bot", [["", t("review_nobody")], ...names], other)),
    el("button", { class: "primary" }, t("review_start")),
    el("a", { href: `/games/${encodeURIComponent(id)}` }, t("review_game")),
  );
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const values = new FormData(form);
    const keys = new URLSearchParams({ seat: String(values.get("seat")) });
    for (const name of new Set(values.getAll("bot"))) if (name) keys.append("bot", String(name));
    const at = new URLSearchParams(location.hash.slice(1)).get("at");
    if (at) keys.set("at", at);
    history.replaceState(null, "", `#${keys}`);
    review(messages, readFragment(bots)).catch(fail);
  });
  main.prepend(form);
  found.replaceChildren();
  if (wanted.bots.length) review(messages, wanted).catch(fail);
}

/** The seat and the bots of the fragment. @param {string[]} bots those there are @returns {Wanted} */
function readFragment(bots) {
  const keys = new URLSearchParams(location.hash.slice(1));
  const seat = Number(keys.get("seat"));
  const named = [...new Set(keys.getAll("bot"))].filter((bot) => bots.includes(bot));
  return { seat: [0, 1, 2].includes(seat) ? seat : 0, bots: named.slice(0, MOST_BOTS) };
}

/** Ask the server for a review, wait for it, and show it. @param {Message[]} messages @param {Wanted} wanted */
async function review(messages, { seat, bots }) {
  const number = ++newest;
  document.querySelector(".error")?.remove();
  end();
  const bar = el("progress", { "aria-label": t("review_progress") });
  const line = el("p", { role: "status" }, t("review_waiting"));
  found.replaceChildren(el("div", { class: "review-progress" }, bar, line));
  const query = new URLSearchParams([["seat", String(seat)], ["game", id], ...bots.map((bot) => ["bot", bot])]);
  let state = await (await request(`/api/reviews?${query}`, { method: "POST" })).json();
  while (state.status === "queued" || state.status === "running") {
    if (state.decisions) {
      Object.assign(bar, { max: state.decisions, value: state.done });
      line.textContent = t("review_working", { done: state.done, decisions: state.decisions });
    }
    await new Promise((resolve) => setTimeout(resolve, BETWEEN));
    if (number !== newest) return;
    state = await get(`/api/reviews/${state.id}`);
  }
  if (state.status === "failed") throw new ApiError(state.error, 0);
  const result = await get(`/api/reviews/${state.id}/result`);
  if (number === newest) end = showReview(found, messages, result, id);
}

/** @param {unknown} error */
function fail(error) {
  if (!(error instanceof ApiError)) throw error;
  found.replaceChildren();
  showError(error.message);
}
