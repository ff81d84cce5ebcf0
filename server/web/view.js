/** The page that shows a record from a file or from the clipboard. The server reads it and keeps nothing. */

import "./words_game.js";
import { ApiError, get, request } from "./api.js";
import { el, setText } from "./dom.js";
import { clearError, setTitle, showError, startPage } from "./page.js";
import { problemText } from "./problem_text.js";
import { gzip } from "./record.js";
import { NukiReplay } from "./replay.js";
import { ReviewRequest } from "./review_request.js";
import { shortRoundName } from "./table_words.js";
import { t } from "./words.js";

// What the server takes, in bytes: unzipped, and as it is sent.
const MOST = 4 << 20;
const MOST_PACKED = 1 << 18;
// While the server reads another record of this address, or too many.
const RETRIES = 10;
const RETRY_DELAY = 1000; // milliseconds
const SLOW = 4000; // milliseconds after which the page says why it may take long
const WITH_RECORD = /^https?:\/\/tenhou\.net\/\d\/.*#json=(.*)$/s;

let newest = 0; // counts the records that were opened: only the last one is shown
const main = startPage(t("view"));
const found = el("div", { class: "view-found", "aria-live": "polite" });
const file = el("input", {
  type: "file",
  class: "hidden-text",
  onchange: () => file.files?.[0] && open(file.files[0], file.files[0].name),
});
const text = el("textarea", { rows: 4, spellcheck: "false", autocapitalize: "off", class: "view-text" });
const form = el(
  "section",
  { class: "view-form" },
  el("h1", {}, t("view_title")),
  el("label", { class: "view-drop" }, file, el("strong", {}, t("view_drop")), el("small", {}, t("view_formats"))),
  el("label", { class: "view-paste" }, t("view_paste"), text),
  el("button", { type: "button", class: "primary", onclick: () => openText(text.value.trim()) }, t("view_show")),
  el("p", { class: "muted" }, t("view_kept")),
);
main.classList.add("view");
main.append(form, found);
addEventListener("dragover", (event) => event.preventDefault());
addEventListener("drop", (event) => {
  event.preventDefault();
  const dropped = event.dataTransfer?.files[0];
  if (dropped) open(dropped, dropped.name);
});

/**
 * @typedef {object} Found what the server reads in a record
 * @property {import("./mjai.js").Message[]} messages
 * @property {string[]} problems
 * @property {Omit<import("./problem_text.js").Problem, "detail">[]} problem_codes of each problem
 * @property {(import("./replay_wall.js").Wall | null)[]} walls
 */

/**
 * Show what was pasted: a record, or a link to tenhou.net's viewer that holds one.
 * @param {string} pasted
 */
async function openText(pasted) {
  if (!pasted) return showError(t("view_empty"));
  if (!/^https?:/.test(pasted)) return open(pasted, t("view_pasted"));
  const json = WITH_RECORD.exec(pasted)?.[1];
  if (!json) return showError(t("view_link"));
  try {
    await open(decodeURIComponent(json), t("view_pasted"));
  } catch (error) {
    if (!(error instanceof URIError)) throw error;
    showError(t("view_damaged"));
  }
}

/**
 * Let the server read a record, and show it.
 * @param {Blob | string} content
 * @param {string} name what it is called in messages
 */
async function open(content, name) {
  clearError();
  const line = el("p", {}, t("view_reading", { name }));
  found.replaceChildren(line);
  const number = ++newest;
  const slow = setTimeout(() => setText(line, t("view_slow", { name })), SLOW);
  try {
    const packed = await pack(new Blob([content]));
    const record = packed && (await read(packed));
    if (number !== newest) return;
    if (record) return show(record, name, packed);
    found.replaceChildren();
    showError(t("view_large", { name }));
  } catch (error) {
    if (number !== newest) return;
    found.replaceChildren();
    if (!(error instanceof ApiError)) throw error;
    showError(`${name}: ${error.message}`);
  } finally {
    clearTimeout(slow);
  }
}

/**
 * A file as it is sent: gzipped, unless it is already; null if it is too large.
 * @param {Blob} file
 * @returns {Promise<Blob | null>}
 */
async function pack(file) {
  if (file.size > MOST) return null;
  const [first, second] = new Uint8Array(await file.slice(0, 2).arrayBuffer());
  const packed = first === 0x1f && second === 0x8b ? file : await gzip(file);
  return packed.size > MOST_PACKED ? null : packed;
}

/**
 * The messages of a record, and what is wrong with them.
 * @param {Blob} packed gzipped
 * @returns {Promise<Found>}
 */
async function read(packed) {
  const headers = { "Content-Type": "application/octet-stream" };
  for (let left = RETRIES; ; left--) {
    try {
      return await (await request("/api/records", { method: "POST", body: packed, headers })).json();
    } catch (error) {
      if (!(error instanceof ApiError) || error.status !== 429 || left === 0) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, RETRY_DELAY));
  }
}

/** @param {Found} record @param {string} name @param {Blob} packed */
function show({ messages, problems, problem_codes: codes, walls }, name, packed) {
  const replay = new NukiReplay();
  const review = async () => {
    const { review_bots: bots } = await get("/api/server");
    reviewButton.hidden = true;
    const section = el("div");
    replay.replaceWith(section);
    new ReviewRequest(section, messages, bots, { record: packed });
  };
  const reviewButton = el("button", { type: "button", class: "primary", onclick: review }, t("view_review"));
  const list = el(
    "ul",
    { tabindex: 0 },
    problems.map((detail, index) => el("li", {}, problemText({ detail, ...codes[index] }))),
  );
  const summary = el("summary", {}, `${t("view_problems")} (${problems.length})`);
  const warning = el("details", { class: "view-problems", open: true }, summary, list);
  const again = el("button", { type: "button", onclick: startAgain }, t("view_other"));
  const head = el("div", { class: "row" }, el("h1", {}, name), reviewButton, again);
  found.replaceChildren(head, ...(problems.length ? [warning] : []), replay);
  form.hidden = true;
  setTitle(name);
  const known = walls.some((wall) => wall !== null);
  replay.load(messages, { live: "", game: "", linked: false, walls: known ? async () => walls : null });
  list.append(...replay.timeline.gaps.map((place) => gapItem(replay, place)));
}

/** From where on something is missing, and a way there. @param {NukiReplay} replay @param {number} place */
function gapItem(replay, place) {
  const { rounds, places } = replay.timeline;
  const { round, first } = rounds[places[place].round];
  const isOver = places[place].state.phase !== "playing";
  const text = t(isOver ? "view_gap_after" : "view_gap", { round: shortRoundName(round), step: place - first });
  return el("li", {}, el("button", { type: "button", class: "quiet", onclick: () => replay.go(place) }, text));
}

function startAgain() {
  form.hidden = false;
  setTitle(t("view"));
  file.value = "";
  found.replaceChildren();
}
