/** A position as short texts, as `engine/positions` reads them: from the messages of a game, and in an address. */

/** @typedef {import("./mjai.js").Message} Message */
/** @typedef {import("./mjai.js").State} State */

/**
 * @typedef {object} Position seats are winds of the round, lists go by them: E, S, W
 * @property {string} hand in mpsz, the tile just drawn is the last
 * @property {string} [seat]
 * @property {string} [round]
 * @property {number} [honba]
 * @property {number[]} [scores]
 * @property {string} [dora] indicators
 * @property {string[]} [rivers]
 * @property {string} [melds]
 * @property {number} [norths]
 * @property {number} [left] draws left
 * @property {string} [rules]
 * @property {string} [length]
 */

export const WINDS = ["E", "S", "W"];
const HONOURS = "ESWNPFC";
/** What is not a discard, in a river. @type {Record<string, string>} */
const LETTERS = { reach: "R", nukidora: "N", pon: "P", daiminkan: "M", ankan: "A", kakan: "K" };
const NUMBERS = ["honba", "norths", "left"];
const RULES = ["tenhou", "majsoul"];

/** An mjai tile in mpsz: `0p` for `5pr`. @param {string} name */
function mpszName(name) {
  if (name.length === 1) return `${HONOURS.indexOf(name) + 1}z`;
  return name.endsWith("r") ? `0${name[1]}` : name;
}

/** mjai tiles in mpsz, in their order. @param {string[]} names */
export function mpsz(names) {
  return names
    .map(mpszName)
    .reduce((text, [rank, suit]) => `${text.at(-1) === suit ? text.slice(0, -1) : text}${rank}${suit}`, "");
}

/** The tiles of an mpsz text, as mjai names them. @param {string} text @returns {string[]} */
export function tilesOf(text) {
  return [...text.matchAll(/(\d+)([mpsz])/g)].flatMap(([, ranks, suit]) =>
    [...ranks].map((rank) => {
      if (suit === "z") return HONOURS[Number(rank) - 1];
      return rank === "0" ? `5${suit}r` : rank + suit;
    }),
  );
}

/**
 * The position of a seat that is to move.
 * @param {State} state of the game now
 * @param {Message[]} messages of the round so far, from `start_kyoku` on
 * @param {number} seat
 * @returns {Position | null} null where its hand is hidden, or no round is being played
 */
export function positionOf({ round, seats, doraMarkers, tilesLeft, rules, length }, messages, seat) {
  const { hand, drawn } = seats[seat];
  if (!round || hand.includes("?") || drawn === "?") return null;
  const order = WINDS.map((_, wind) => (round.dealer + wind) % seats.length);
  const rivers = riversOf(messages);
  return {
    hand: mpsz(drawn ? [...hand, drawn] : hand),
    seat: WINDS[order.indexOf(seat)],
    round: `${round.wind}${round.kyoku}`,
    honba: round.honba,
    scores: order.map((each) => seats[each].score),
    dora: mpsz(doraMarkers),
    rivers: order.map((each) => rivers[each].join(" ")),
    left: tilesLeft,
    ...(RULES.includes(rules) ? { rules } : {}),
    ...(length === "east" ? { length } : {}),
  };
}

/** What each seat has done. @param {Message[]} messages */
function riversOf(messages) {
  const rivers = WINDS.map(() => /** @type {string[]} */ ([]));
  for (const { type, actor, target, pai, consumed = [], tsumogiri } of messages) {
    if (type === "dahai") rivers[actor].push(mpszName(pai) + (tsumogiri ? "_" : ""));
    else if (type in LETTERS) {
      if (type === "pon" || type === "daiminkan") rivers[target].push(`${rivers[target].pop()}^`);
      const tiles =
        type === "ankan"
          ? consumed
          : type === "kakan"
            ? [pai]
            : type === "reach" || type === "nukidora"
              ? []
              : [pai, ...consumed];
      rivers[actor].push(LETTERS[type] + mpsz(tiles));
    }
  }
  return rivers;
}

/**
 * The last turn up to a message in which a seat had to decide: the index of its draw or pon, -1 if there is none.
 * @param {Message[]} messages of the round so far
 * @param {number} [seat] of any if it is left out
 */
export function lastTurn(messages, seat = -1) {
  return messages.findLastIndex(
    ({ type, actor }) => (type === "tsumo" || type === "pon") && (seat < 0 || actor === seat),
  );
}

/** The address of the page for a position. @param {Position} position @param {string[]} [bots] */
export function positionAddress(position, bots = []) {
  return `/position#${writePosition(position, bots)}`;
}

/** @param {Position} position @param {string[]} bots @returns {string} a fragment without its `#` */
export function writePosition(position, bots) {
  const keys = Object.entries(position).map(([key, value]) => [
    key,
    Array.isArray(value) ? value.join(",") : String(value),
  ]);
  return String(new URLSearchParams([...keys, ...(bots.length ? [["bots", bots.join(",")]] : [])]));
}

/** @param {string} fragment of an address @returns {{position: Position | null, bots: string[]}} null: it has none */
export function readPosition(fragment) {
  const keys = new URLSearchParams(fragment.replace(/^#/, ""));
  const bots = (keys.get("bots") ?? "").split(",").filter(Boolean);
  keys.delete("bots");
  if (!keys.get("hand")) return { position: null, bots };
  const fields = [...keys].map(([key, value]) => {
    if (NUMBERS.includes(key)) return [key, Number(value)];
    if (key === "scores") return [key, value.split(",").map(Number)];
    return [key, key === "rivers" ? value.split(",") : value];
  });
  return { position: Object.fromEntries(fields), bots };
}
