/** Names of yaku as players know them, by their names in mjai's `hora` (engine/scoring/yaku.py). */

import { language } from "./words.js";

/** @type {Record<string, {en: string, ja: string, yakuman?: boolean}>} */
export const YAKU = {
  menzenchin_tsumoho: { en: "menzen tsumo", ja: "門前清自摸和" },
  reach: { en: "riichi", ja: "立直" },
  chankan: { en: "chankan", ja: "槍槓" },
  rinshankaiho: { en: "rinshan kaihou", ja: "嶺上開花" },
  haiteiraoyue: { en: "haitei", ja: "海底摸月" },
  hoteiraoyui: { en: "houtei", ja: "河底撈魚" },
  sangenpai: { en: "dragon", ja: "役牌" },
  jikaze: { en: "seat wind", ja: "自風" },
  bakaze: { en: "round wind", ja: "場風" },
  tanyaochu: { en: "tanyao", ja: "断幺九" },
  ipeko: { en: "iipeikou", ja: "一盃口" },
  pinfu: { en: "pinfu", ja: "平和" },
  honchantaiyao: { en: "chanta", ja: "混全帯幺九" },
  ikkitsukan: { en: "ittsu", ja: "一気通貫" },
  sanshokudojun: { en: "sanshoku", ja: "三色同順" },
  double_reach: { en: "double riichi", ja: "両立直" },
  sanshokudoko: { en: "sanshoku doukou", ja: "三色同刻" },
  sankantsu: { en: "sankantsu", ja: "三槓子" },
  toitoiho: { en: "toitoi", ja: "対々和" },
  sananko: { en: "sanankou", ja: "三暗刻" },
  shosangen: { en: "shousangen", ja: "小三元" },
  honroto: { en: "honroutou", ja: "混老頭" },
  chitoitsu: { en: "chiitoitsu", ja: "七対子" },
  junchantaiyao: { en: "junchan", ja: "純全帯幺九" },
  honiso: { en: "honitsu", ja: "混一色" },
  ryanpeko: { en: "ryanpeikou", ja: "二盃口" },
  chiniso: { en: "chinitsu", ja: "清一色" },
  ippatsu: { en: "ippatsu", ja: "一発" },
  dora: { en: "dora", ja: "ドラ" },
  akadora: { en: "red dora", ja: "赤ドラ" },
  uradora: { en: "ura dora", ja: "裏ドラ" },
  nukidora: { en: "nukidora", ja: "抜きドラ" },
  tenho: { en: "tenhou", ja: "天和", yakuman: true },
  chiho: { en: "chiihou", ja: "地和", yakuman: true },
  daisangen: { en: "daisangen", ja: "大三元", yakuman: true },
  suanko: { en: "suuankou", ja: "四暗刻", yakuman: true },
  tsuiso: { en: "tsuuiisou", ja: "字一色", yakuman: true },
  ryuiso: { en: "ryuuiisou", ja: "緑一色", yakuman: true },
  chinroto: { en: "chinroutou", ja: "清老頭", yakuman: true },
  kokushimuso: { en: "kokushi musou", ja: "国士無双", yakuman: true },
  shosushi: { en: "shousuushii", ja: "小四喜", yakuman: true },
  sukantsu: { en: "suukantsu", ja: "四槓子", yakuman: true },
  churenpoton: { en: "chuuren poutou", ja: "九蓮宝燈", yakuman: true },
  churenpoton_9: { en: "junsei chuuren poutou", ja: "純正九蓮宝燈", yakuman: true },
  suanko_tanki: { en: "suuankou tanki", ja: "四暗刻単騎", yakuman: true },
  kokushimuso_13: { en: "kokushi musou 13-wait", ja: "国士無双１３面", yakuman: true },
  daisushi: { en: "daisuushii", ja: "大四喜", yakuman: true },
};

/** The dragons by their tiles; mjai has one name for the three. @type {Record<string, {en: string, ja: string}>} */
export const DRAGONS = {
  P: { en: "haku", ja: "役牌 白" },
  F: { en: "hatsu", ja: "役牌 發" },
  C: { en: "chun", ja: "役牌 中" },
};

/**
 * What a yaku is called on the pages; a dragon by its tile.
 * @param {string} name as in `hora`
 * @param {string} [tile]
 */
export function yakuName(name, tile = "") {
  const text = (DRAGONS[tile] ?? YAKU[name])?.[language()] ?? name;
  return text[0].toUpperCase() + text.slice(1);
}
