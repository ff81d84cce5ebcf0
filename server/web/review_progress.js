/** Asks the server for a review, and shows how far it is until it is done. */

import "./words_review.js";
import { ApiError, get, request } from "./api.js";
import { el } from "./dom.js";
import { t } from "./words.js";

const BETWEEN = 500; // milliseconds between questions about the progress

/**
 * The result of a review, once it is done; null once it is not wanted any more.
 * @param {HTMLElement} place shows the progress
 * @param {string} path that is asked by POST
 * @param {RequestInit} options of the request
 * @param {string} unit the words for so many that are done
 * @param {() => boolean} isWanted
 * @returns {Promise<any>}
 * @throws {ApiError}
 */
export async function reviewed(place, path, options, unit, isWanted) {
  const bar = el("progress", { "aria-label": t("review_progress") });
  const line = el("p", { role: "status" }, t("review_starting"));
  place.replaceChildren(el("div", { class: "review-progress" }, bar, line));
  let state = await (await request(path, { ...options, method: "POST" })).json();
  while (state.status === "queued" || state.status === "running") {
    await new Promise((resolve) => setTimeout(resolve, BETWEEN));
    if (!isWanted()) return null;
    state = await get(`/api/reviews/${state.id}`);
    if (state.decisions) {
      Object.assign(bar, { max: state.decisions, value: state.done });
      line.textContent = t(unit, { done: state.done, decisions: state.decisions });
    } else line.textContent = t(state.status === "queued" ? "review_waiting" : "review_starting");
  }
  if (state.status === "failed") throw new ApiError({ ...state, detail: state.error }, 0);
  const result = await get(`/api/reviews/${state.id}/result`);
  return isWanted() ? result : null;
}
