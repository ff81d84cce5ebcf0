/** What all pages share: the bar at the top, and the place for what goes wrong. */

import { el } from "./dom.js";
import { addWords, language, setLanguage, t } from "./words.js";

addWords({
  en: { lobby: "Lobby", players: "Players", rooms: "Rooms", view: "View a record", other_language: "日本語" },
  ja: { lobby: "ロビー", players: "成績", rooms: "卓一覧", view: "牌譜を見る", other_language: "English" },
});

const LINKS = { lobby: "/", players: "/players", rooms: "/rooms", view: "/view" };

/**
 * Draw the bar and return the element to fill. Errors that nothing handles are shown there.
 * @returns {HTMLElement}
 */
export function startPage() {
  document.documentElement.lang = language();
  const links = Object.entries(LINKS).map(([key, href]) =>
    el("a", { href, "aria-current": href === location.pathname ? "page" : null }, t(key)),
  );
  const switchLanguage = () => {
    setLanguage(language() === "en" ? "ja" : "en");
    location.reload();
  };
  const other = el("button", { class: "quiet", onclick: switchLanguage }, t("other_language"));
  document.body.prepend(
    el("header", {}, el("a", { href: "/", class: "logo" }, "nukidora"), el("nav", {}, links), other),
  );
  addEventListener("unhandledrejection", ({ reason }) => showError(reason.message ?? String(reason)));
  return /** @type {HTMLElement} */ (document.querySelector("main"));
}

/** Show a line about what went wrong, above the page. @param {string} text */
export function showError(text) {
  document.querySelector(".error")?.remove();
  document.querySelector("main")?.before(el("p", { class: "error", role: "alert" }, text));
}
