/** Words of the page with the puzzle of a day. */

import { addWords } from "./words.js";

addWords({
  en: {
    puzzle_title: "Puzzle of the day",
    puzzle_making: "The bots choose a position from finished games …",
    puzzle_none:
      "No puzzle yet. It is chosen from the games finished before the day; play some, and come back tomorrow.",
    puzzle_lobby: "To the lobby",
    puzzle_question: "{date} · {round} · {wind} · What would you discard?",
    puzzle_help: "Click a tile. Keys: ← → and Enter, or 1-9 0 - = from the left; Space for the tile just drawn.",
    puzzle_right: "As the bots would.",
    puzzle_wrong: "The bots would discard another tile.",
    puzzle_yours: "You",
    puzzle_best: "Bots",
    puzzle_played: "In the game",
  },
  ja: {
    puzzle_title: "今日の何切る",
    puzzle_making: "ボットが終了した対局から局面を選んでいます…",
    puzzle_none: "問題はまだありません。前日までに終了した対局から選ばれます。対局して、明日また来てください。",
    puzzle_lobby: "ロビーへ",
    puzzle_question: "{date} · {round} · {wind} · 何を切る？",
    puzzle_help: "牌をクリック。キー：← → と Enter、左から 1-9 0 - =、ツモ牌は Space。",
    puzzle_right: "ボットと同じです。",
    puzzle_wrong: "ボットは別の牌を切ります。",
    puzzle_yours: "あなた",
    puzzle_best: "ボット",
    puzzle_played: "実戦",
  },
});
