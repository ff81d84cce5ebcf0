"""The answers of the five networks, and how they combine to the logits of the 46 labels.

On the viewer's turn the questions are asked in order: nukidora? a kan? riichi? and if none of them, which discard?
After another player's discard: a kan? a pon? and if neither, none. The log-probability of a label is the sum of the
answers that lead to it; a question that is not asked is answered no. A win and the abortive draw are not asked: each
has a fixed logit, relative to a total probability of 1 for everything else.
"""

from __future__ import annotations

from typing import Any

from agents.bert.labels import (
    ANKAN_LABEL,
    DAIMINKAN_LABEL,
    HORA_LABEL,
    KAKAN_LABEL,
    N_LABELS,
    NONE_LABEL,
    NUKIDORA_LABEL,
    PON_LABEL,
    REACH_LABEL,
    RYUKYOKU_LABEL,
)
from engine.tiles import N_TILES

# What is asked in a decision: QUESTIONS are the bits of the networks, then those of the kans in their order.
QUESTIONS = ("discard", "pon", "kan", "riichi", "nukidora")
ASK_DISCARD, ASK_PON, ASK_KAN, ASK_RIICHI, ASK_NUKIDORA, MAY_DAIMINKAN, MAY_ANKAN, MAY_KAKAN = range(8)
MAY_DISCARD = 8  # and the 37 tiles that may be discarded
N_ASKED = MAY_DISCARD + N_TILES

# network -> its outputs: the logits of the tiles; of pon; of daiminkan, ankan and kakan; of riichi; of nukidora. The
# answer no has the logit 0.
N_ANSWERS = dict(zip(QUESTIONS, (N_TILES, 1, 3, 1, 1), strict=True))
VALUES = 4  # placement logits and points
FIXED = (5.0, 0.0)  # logits of a win and of the abortive draw, before training
NEVER = -1e4


def label_logits(xp: Any, answers: dict[str, Any], fixed: Any, asked: Any) -> Any:
    """float[n, N_LABELS] from each network's float[n, N_ANSWERS], `fixed` float[2] and `asked` bool[n, N_ASKED].

    `xp` is the module of the arrays, numpy or torch.
    """

    def share(logits: Any, possible: Any) -> Any:
        """Log-probabilities among the possible ones, NEVER for the others."""
        logits = xp.where(possible, logits, NEVER)
        highest = xp.amax(logits, -1)[:, None]
        return xp.where(possible, logits - highest - xp.log(xp.exp(logits - highest).sum(-1))[:, None], NEVER)

    def yes_no(logits: Any, possible: Any) -> tuple[Any, Any]:
        """Log-probabilities of the answers yes, float[n, k], and of no, float[n]."""
        both = share(
            xp.concatenate([logits, 0 * logits[:, :1]], -1),
            xp.concatenate([possible, possible[:, :1] | True], -1),
        )
        return both[:, :-1], both[:, -1]

    def column(index: int) -> Any:
        return asked[:, index : index + 1]

    kan, no_kan = yes_no(answers["kan"], asked[:, [MAY_DAIMINKAN, MAY_ANKAN, MAY_KAKAN]])
    pon, no_pon = yes_no(answers["pon"], column(ASK_PON))
    riichi, no_riichi = yes_no(answers["riichi"], column(ASK_RIICHI))
    nukidora, no_nukidora = yes_no(answers["nukidora"], column(ASK_NUKIDORA))
    discard = share(answers["discard"], asked[:, MAY_DISCARD : MAY_DISCARD + N_TILES] & column(ASK_DISCARD))
    labels: list[Any] = [None] * N_LABELS
    labels[:N_TILES] = [(discard + (no_nukidora + no_kan + no_riichi)[:, None])[:, i] for i in range(N_TILES)]
    labels[REACH_LABEL] = no_nukidora + no_kan + riichi[:, 0]
    labels[DAIMINKAN_LABEL], labels[ANKAN_LABEL], labels[KAKAN_LABEL] = (no_nukidora + kan[:, i] for i in range(3))
    labels[PON_LABEL] = no_kan + pon[:, 0]
    labels[NUKIDORA_LABEL] = nukidora[:, 0]
    labels[HORA_LABEL], labels[RYUKYOKU_LABEL] = fixed[0] + 0 * no_kan, fixed[1] + 0 * no_kan
    labels[NONE_LABEL] = no_kan + no_pon
    return xp.stack(labels, -1)
