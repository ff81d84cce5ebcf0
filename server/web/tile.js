/** Tiles, drawn from the sprite in the page (engine/tiles.svg): a symbol `tile-5pr` for each, `tile-back` for `?`. */

import { svg } from "./dom.js";
import { addWords, t } from "./words.js";

addWords({
  en: {
    tile_m: "{n} man",
    tile_p: "{n} pin",
    tile_s: "{n} sou",
    tile_r: "red {tile}",
    tile_hidden: "hidden tile",
    tile_E: "East",
    tile_S: "South",
    tile_W: "West",
    tile_N: "North",
    tile_P: "White",
    tile_F: "Green",
    tile_C: "Red",
  },
  ja: {
    tile_m: "{n}萬",
    tile_p: "{n}筒",
    tile_s: "{n}索",
    tile_r: "赤{tile}",
    tile_hidden: "伏せ牌",
    tile_E: "東",
    tile_S: "南",
    tile_W: "西",
    tile_N: "北",
    tile_P: "白",
    tile_F: "發",
    tile_C: "中",
  },
});

/**
 * A tile. Its width is `--tile` of the stylesheet.
 * @param {string} name as in mjai; `?` shows the back
 * @param {string} [classes]
 * @returns {SVGElement}
 */
export function tile(name, classes = "") {
  return setTile(svg("svg", { viewBox: "0 0 60 80", role: "img" }, svg("use")), name, classes);
}

/**
 * Make a tile another one, which is cheaper than a new element.
 * @param {SVGElement} element made by `tile`
 * @param {string} name
 * @param {string} [classes]
 * @returns {SVGElement} the same element
 */
export function setTile(element, name, classes = "") {
  if (element.dataset.tile !== name) {
    element.dataset.tile = name;
    element.setAttribute("aria-label", tileName(name));
    element.firstElementChild?.setAttribute("href", `#tile-${name === "?" ? "back" : name}`);
  }
  element.setAttribute("class", `tile ${classes}`.trim());
  return element;
}

/** What a tile is called, such as `red 5 pin`. @param {string} name */
export function tileName(name) {
  if (name === "?") return t("tile_hidden");
  const [number, suit, red] = name;
  if (suit === undefined) return t(`tile_${name}`);
  const text = t(`tile_${suit}`, { n: number });
  return red ? t("tile_r", { tile: text }) : text;
}
