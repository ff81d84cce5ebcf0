/** Tiles, drawn from the sprite in the page (tiles.svg): a symbol `tile-5pr` for each, `tile-back` for `?`. */

import { svg } from "./dom.js";

/**
 * A tile. Its size is set by the stylesheet.
 * @param {string} name as in mjai; `?` shows the back
 * @param {string} [classes]
 * @returns {SVGElement}
 */
export function tile(name, classes = "") {
  const shown = name === "?" ? "back" : name;
  const attributes = {
    class: `tile ${classes}`.trim(),
    viewBox: "0 0 60 80",
    role: "img",
    "aria-label": shown,
    "data-tile": name,
  };
  return svg("svg", attributes, svg("use", { href: `#tile-${shown}` }));
}
