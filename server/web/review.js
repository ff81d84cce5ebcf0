/**
 * The page of a game's reviews: `#seat=0&bot=bert&bot=rule&at=12` asks for one, and shows the decision at a message. Without
 * bots, the default ones review.
 */

import "./words_review.js";
import { ApiError, get } from "./api.js";
import { el } from "./dom.js";
import { setTitle, showError, startPage, subject } from "./page.js";
import { loadRecord } from "./record.js";
import { ReviewRequest } from "./review_request.js";
import { t } from "./words.js";

const main = startPage(t("review_page"));
const id = subject();
const content = el("div", {}, el("p", { role: "status" }, t("review_loading")));
const back = el("a", { href: `/games/${encodeURIComponent(id)}` }, t("review_game"));

main.classList.add("review-page");
main.append(el("p", {}, back), content);
try {
  const [record, { review_bots: bots }] = await Promise.all([loadRecord(id), get("/api/server")]);
  const messages = record.filter(({ type }) => type !== "error");
  setTitle(t("review_of_game", { names: messages[0].names.join(", ") }));
  new ReviewRequest(content, messages, bots, { game: id });
} catch (error) {
  if (!(error instanceof ApiError)) throw error;
  content.replaceChildren();
  showError(error.message);
}
