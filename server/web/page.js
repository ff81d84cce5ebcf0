/** What all pages share: the bar at the top, the line at the bottom, and the place for what goes wrong. */

import { el, svg } from "./dom.js";
import { browserStorage } from "./storage.js";
import { addWords, language, setLanguage, t } from "./words.js";

addWords({
  en: {
    lobby: "Lobby",
    players: "Players",
    rooms: "Rooms",
    tournaments: "Tournaments",
    view: "View a record",
    analyse: "Analyse",
    other_language: "日本語",
    pages: "Pages",
    theme_auto: "Colours: as the system",
    theme_light: "Colours: light",
    theme_dark: "Colours: dark",
    api: "API",
  },
  ja: {
    lobby: "ロビー",
    players: "成績",
    rooms: "卓一覧",
    tournaments: "大会",
    view: "牌譜を見る",
    analyse: "検討",
    other_language: "English",
    pages: "ページ",
    theme_auto: "配色：自動",
    theme_light: "配色：ライト",
    theme_dark: "配色：ダーク",
    api: "API",
  },
});

const LINKS = {
  lobby: "/",
  players: "/players",
  rooms: "/rooms",
  tournaments: "/tournaments",
  view: "/view",
  analyse: "/position",
};
const THEME = "nukidora.theme"; // key of the browser's storage
/** The choices of colours, in the order of the switch, and the shape on it. @type {Record<string, string>} */
const THEMES = {
  auto: "M8 2a6 6 0 1 0 0 12A6 6 0 1 0 8 2zM8 3v10a5 5 0 0 0 0-10z",
  light:
    "M8 5a3 3 0 0 0 0 6a3 3 0 0 0 0-6zM8 1v1M8 14v1M1 8h1M14 8h1M3 3l.7.7M12.3 12.3l.7.7M13 3l-.7.7M3.7 12.3l-.7.7",
  dark: "M13.5 9.5A6 6 0 1 1 6.5 2.5a5 5 0 0 0 7 7z",
};

setTheme(browserStorage.getItem(THEME) ?? "auto");

/** What the page is of: the id or name in its path, such as that of a game. */
export function subject() {
  const part = location.pathname.split("/")[2];
  try {
    return decodeURIComponent(part);
  } catch {
    return part; // not encoded: the address was typed
  }
}

/**
 * Draw the bar and return the element to fill. Errors that nothing handles are shown there.
 * @param {string} title of the page, for the browser
 * @returns {HTMLElement}
 */
export function startPage(title) {
  document.documentElement.lang = language();
  setTitle(title);
  const links = Object.entries(LINKS).map(([key, href]) =>
    el("a", { href, "aria-current": href === location.pathname ? "page" : null }, t(key)),
  );
  const switches = el("div", { class: "switches" }, themeSwitch(), languageSwitch());
  const logo = el("a", { href: "/", class: "logo" }, "nukidora");
  document.body.prepend(el("header", {}, logo, el("nav", { "aria-label": t("pages") }, links), switches));
  const version = document.documentElement.dataset.version ?? "";
  document.body.append(el("footer", {}, `nukidora ${version}`, el("a", { href: "/docs" }, t("api"))));
  addEventListener("error", ({ error }) => error && showError(error.message)); // null: of the browser or an extension
  addEventListener("unhandledrejection", ({ reason }) => showError(reason.message ?? String(reason)));
  return /** @type {HTMLElement} */ (document.querySelector("main"));
}

/** Give the page another title. @param {string} title for the browser */
export function setTitle(title) {
  document.title = `${title} · nukidora`;
}

/** A button that goes from one choice of colours to the next. */
function themeSwitch() {
  const path = svg("path");
  const button = el("button", { class: "quiet theme", onclick: next }, svg("svg", { viewBox: "0 0 16 16" }, path));
  function show() {
    const theme = document.documentElement.dataset.theme ?? "auto";
    path.setAttribute("d", THEMES[theme]);
    button.title = t(`theme_${theme}`);
    button.setAttribute("aria-label", button.title);
  }
  function next() {
    const themes = Object.keys(THEMES);
    const theme = document.documentElement.dataset.theme ?? "auto";
    setTheme(themes[(themes.indexOf(theme) + 1) % themes.length]);
    show();
  }
  show();
  return button;
}

/** Choose the colours. @param {string} theme key of THEMES; another one is the same as `auto` */
function setTheme(theme) {
  const { dataset } = document.documentElement;
  if (theme in THEMES && theme !== "auto") dataset.theme = theme;
  else delete dataset.theme;
  browserStorage.setItem(THEME, theme);
}

/** A button for the other language. */
function languageSwitch() {
  const other = language() === "en" ? "ja" : "en";
  const change = () => {
    setLanguage(other);
    location.reload();
  };
  return el("button", { class: "quiet", lang: other, onclick: change }, t("other_language"));
}

/** Remove the line about what went wrong. */
export function clearError() {
  document.querySelector(".error")?.remove();
}

/** Show a line about what went wrong, above the page. @param {string} text */
export function showError(text) {
  clearError();
  document.querySelector("main")?.before(el("p", { class: "error", role: "alert" }, text));
}
