/** The element `<nuki-table>`: draws a state of a game (mjai.js). */

/** @typedef {import("./mjai.js").State} State */

/**
 * @typedef {object} Mark a bar at a tile
 * @property {number} value height, 0 to 1
 * @property {string} text what a tooltip says
 * @property {"best" | "played" | ""} role
 */

/**
 * @typedef {object} TableOptions
 * @property {number} bottom the seat at the bottom
 * @property {boolean} open whether hands of other seats are shown, where they are known
 * @property {Record<string, Mark>} [marks] at tiles of the bottom seat's hand, by name; `drawn` for the drawn tile
 * @property {{hand: string[], drawn: boolean} | null} [playable] tiles of the bottom seat that may be clicked to be
 *   discarded, the others are dimmed; null or missing: none is clickable, none is dimmed
 */

export class NukiTable extends HTMLElement {
  /**
   * Draw a state. A click on a playable tile dispatches `discard` with detail {tile, tsumogiri}.
   * @param {State} state
   * @param {TableOptions} options
   */
  show(state, options) {
    this.textContent = JSON.stringify([state.seats, options.bottom]);
  }
}

customElements.define("nuki-table", NukiTable);
