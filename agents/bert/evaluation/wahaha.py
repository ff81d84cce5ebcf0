"""What was published of wahaha's network, to compare with (https://github.com/yuufyu/wahaha, README).

Its policy on three-player hanchan of 2011 in Tenhou's phoenix room, after training on 20,000 of 2012 to 2020. Its count
leaves out the discards that follow a pon or a riichi. Of each label it gives two counts and a share. The share belongs
to the second count: the sum of their products over the labels is the accuracy. The first count must be that of labels
that were played, the second that of predictions, and so the share the precision: only the first are alike for the three
dragons and for pinzu and souzu, as the rules are.
"""

from __future__ import annotations

from agents.bert.evaluation.metrics import LabelMetrics

WAHAHA_ACCURACY, WAHAHA_LOSS = 0.7973, 0.5290
WAHAHA_LABELS = (
    LabelMetrics("dahai 1m", 924_221, 1_008_436, 796_819),
    LabelMetrics("dahai 9m", 923_944, 981_816, 785_458),
    LabelMetrics("dahai 5pr", 31_774, 30_244, 21_361),
    LabelMetrics("dahai 1p", 591_399, 570_972, 433_187),
    LabelMetrics("dahai 2p", 399_405, 372_718, 282_692),
    LabelMetrics("dahai 3p", 271_825, 247_356, 187_798),
    LabelMetrics("dahai 4p", 232_758, 195_329, 149_267),
    LabelMetrics("dahai 5p", 186_057, 183_558, 128_817),
    LabelMetrics("dahai 6p", 231_263, 231_702, 162_404),
    LabelMetrics("dahai 7p", 273_533, 261_344, 194_064),
    LabelMetrics("dahai 8p", 399_271, 422_965, 300_925),
    LabelMetrics("dahai 9p", 593_032, 579_594, 436_024),
    LabelMetrics("dahai 5sr", 32_571, 28_184, 20_844),
    LabelMetrics("dahai 1s", 597_560, 558_024, 430_982),
    LabelMetrics("dahai 2s", 406_378, 383_433, 289_607),
    LabelMetrics("dahai 3s", 277_395, 247_779, 190_013),
    LabelMetrics("dahai 4s", 235_896, 210_529, 157_006),
    LabelMetrics("dahai 5s", 189_512, 164_245, 122_745),
    LabelMetrics("dahai 6s", 236_268, 202_835, 153_499),
    LabelMetrics("dahai 7s", 276_652, 269_120, 197_650),
    LabelMetrics("dahai 8s", 403_260, 372_343, 284_721),
    LabelMetrics("dahai 9s", 599_142, 570_094, 435_872),
    LabelMetrics("dahai E", 775_968, 834_380, 626_345),
    LabelMetrics("dahai S", 797_026, 806_371, 628_378),
    LabelMetrics("dahai W", 851_573, 893_626, 693_246),
    LabelMetrics("dahai N", 22_125, 14_497, 10_584),
    LabelMetrics("dahai P", 747_669, 708_730, 566_718),
    LabelMetrics("dahai F", 746_071, 759_753, 586_791),
    LabelMetrics("dahai C", 750_832, 823_257, 613_300),
    LabelMetrics("reach", 339_661, 367_860, 270_141),
    LabelMetrics("pon", 427_234, 424_245, 361_560),
    LabelMetrics("daiminkan", 3_071, 923, 621),
    LabelMetrics("ankan", 16_318, 20_094, 13_372),
    LabelMetrics("kakan", 31_115, 34_469, 24_670),
    LabelMetrics("nukidora", 1_178_109, 1_210_985, 1_158_582),
    LabelMetrics("hora", 390_583, 393_297, 390_385),
    LabelMetrics("ryukyoku", 13_047, 15_005, 12_761),
    LabelMetrics("none", 1_115_650, 1_119_056, 1_050_863),
)
