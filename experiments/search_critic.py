"""What a critic of discards knows about the true hands, and what is left of it in sampled worlds.

    python experiments/search_critic.py [ROUNDS]    # 30: about two minutes of a core

Three `residual` play at TABLES tables, and sample their actions from their probabilities. All the time a critic of
positions learns the value of the end of the round, as in `agents.rl`; the advantage of a choice follows from it. For
ROUNDS rounds a critic of discards learns, too: the advantage of a discard from what `residual` sees, from the features
of the discard, and from the whole table just after it, hidden hands and wall included (oracle features; whether an
opponent may win on it).

In JUDGED more rounds it is asked about the likeliest discards of a choice, at the true table and in WORLDS sampled
worlds of two Markov chains. What it says of the chosen discard, less the mean over the policy, is compared with the
advantage: slope 1 if it is right. One chain is the instrument for the other, as in search_calibration.py;
`prior` is the action value of `residual`. Intervals (95 %) count a round at a table as one observation.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import torch
from search_calibration import sampled_worlds, slopes
from torch import nn

from agents.playouts.value import round_values
from agents.residual.bot import BUNDLED
from agents.residual.features import FEATURES, RULE_STATE_AT, STATE
from agents.rl.bot import LOGIT_VALUE
from agents.rl.networks import Critic
from agents.rl.oracle import N_ORACLE, write_oracle
from agents.rl.policy import load_weights, logits_of, sample
from agents.rl.ppo import descend, estimate_advantages
from agents.rl.rows import Rows, encode
from agents.selfplay.layout import BEST_AT
from engine import kernels
from engine.actions import NUKIDORA, RON, TSUMOGIRI
from engine.common.progress import Progress
from engine.table import GAME_OVER, N_SEATS, ROUND_OVER, raw_bytes
from engine.tables import Tables

TABLES = 512
JUDGED, WORLDS = 2, 8
N_AFTER = N_ORACLE + N_SEATS  # after an action: what is hidden, whether each opponent may win on it, whether it is over
WIDTH, HIDDEN = 128, 64
DECAYS = (0.6, 0.8, 1.0)  # lambda of the advantages; the first is learned
WARM_UP = 4  # rounds in which only the critic of positions learns
EPOCHS, RATE, BATCH = 2, 1e-3, 2048
LEAST, MOST = 0.01, 6  # probability of a discard that is compared, and how many
KINDS = ("2+ from tenpai", "0-1 from tenpai", "against a riichi")


class Choice(NamedTuple):
    """A choice among discards that is judged: values of the chosen discard, less the mean over the policy."""

    row: int  # of the round
    table: int
    kind: int  # index into KINDS
    prior: float
    true: float  # of the critic, at the true table
    chains: tuple[float, float]  # its means in the worlds of both chains


class Round(NamedTuple):
    """The choices of a round at all tables."""

    states: np.ndarray  # float32[n, N_STATE]
    oracle: np.ndarray  # float32[n, N_ORACLE]
    table: np.ndarray  # int64[n]
    seat: np.ndarray  # int64[n]
    discard: np.ndarray  # int64[d]: those that are discards
    actions: np.ndarray  # float32[d, N_ACTION]
    after: np.ndarray  # float32[d, N_AFTER]
    ends: np.ndarray  # float32[TABLES, 3]: values of the end
    judged: list[Choice]


class DiscardCritic(nn.Module):
    """The advantage of a discard, from what the player sees and from the table after it."""

    def __init__(self, seen: torch.Tensor, after: torch.Tensor) -> None:
        """The features of some discards scale the inputs."""
        super().__init__()
        self.scales = [1 / (each.std(0) + 0.05) for each in (seen, after)]
        self.seen, self.after = nn.Linear(seen.shape[1], WIDTH), nn.Linear(N_AFTER, WIDTH, bias=False)
        last = nn.Linear(HIDDEN, 1)
        nn.init.zeros_(last.weight)
        self.rest = nn.Sequential(nn.ReLU(), nn.Linear(WIDTH, HIDDEN), nn.ReLU(), last)

    def forward(self, seen: torch.Tensor, after: torch.Tensor, times: int = 1) -> torch.Tensor:
        """float32[n * times] for `seen` float32[n, :] and `after` float32[n * times, N_AFTER]."""
        first = self.seen(seen * self.scales[0]).repeat_interleave(times, 0) + self.after(after * self.scales[1])
        out: torch.Tensor = self.rest(first)
        return out[:, 0]


def after_actions(records: np.ndarray, players: np.ndarray, seats: np.ndarray, actions: np.ndarray) -> np.ndarray:
    """What a critic sees once `seats` int8[n] have played `actions` int64[n] at the whole tables `records` TABLE[n].

    `players` int8[n, 3]: as of `write_oracle`. Returns float32[n, N_AFTER].
    """
    raw, n = raw_bytes(records).copy(), len(records)
    every = np.arange(n, dtype=np.int32)
    assert kernels.apply_actions(raw, every, seats, actions) < 0
    tables: Any = raw.view(records.dtype)
    oracle, after = np.empty((n, N_ORACLE), dtype=np.float32), np.empty((n, N_AFTER), dtype=np.float32)
    write_oracle(raw, players, every, seats, oracle)
    after[:, :N_ORACLE] = oracle
    for step in range(1, N_SEATS):
        menu = tables["legal"][every, (seats + step) % N_SEATS, RON // 64]
        after[:, N_ORACLE + step - 1] = menu >> np.uint64(RON % 64) & np.uint64(1)
    after[:, -1] = tables["phase"] >= ROUND_OVER
    return after


def nobody_else(n: int) -> np.ndarray:
    """The players of `n` tables with `residual` at all seats."""
    return np.zeros((n, N_SEATS), dtype=np.int8)


class Player:
    """Tables at which `residual` plays itself."""

    def __init__(self) -> None:
        self.critic: DiscardCritic | None = None  # once it is to be judged
        self._random = np.random.default_rng(0)
        self._weights = load_weights(BUNDLED, FEATURES)
        self._tables = Tables(self._seeds(TABLES))

    def _seeds(self, n: int) -> np.ndarray:
        return self._random.integers(1 << 62, size=n, dtype=np.uint64)

    def rounds(self) -> Iterator[Round]:
        """Play round after round."""
        tables = self._tables
        while True:
            steps: list[tuple[np.ndarray, ...]] = []
            judged: list[Choice] = []

            def act(views: np.ndarray, steps: Any = steps, judged: Any = judged) -> np.ndarray:
                return self._act(views, steps, judged)

            tables.play_round([act], np.zeros((TABLES, N_SEATS), dtype=np.int8))
            states, oracle, of, seats, is_discard, actions, after = (np.concatenate(each) for each in zip(*steps))
            ends = np.empty((TABLES, N_SEATS), dtype=np.float32)
            for seat in range(N_SEATS):
                values = np.empty(TABLES, dtype=np.float32)
                round_values(tables.raw, np.full(TABLES, seat, dtype=np.int8), values)
                ends[:, seat] = values
            yield Round(states, oracle, of, seats, np.flatnonzero(is_discard), actions, after, ends, judged)
            kernels.next_rounds(tables.raw)
            over = np.flatnonzero(tables.records["phase"] == GAME_OVER)
            if len(over):
                tables.records[over] = Tables(self._seeds(len(over))).records

    def _act(self, views: np.ndarray, steps: list[tuple[np.ndarray, ...]], judged: list[Choice]) -> np.ndarray:
        """Sample actions, int64[n]; keep the choices."""
        tables = self._tables
        actions, rows = encode(FEATURES, views)
        n = len(rows.view)
        logits, chosen = logits_of(self._weights, rows), np.empty(n, dtype=np.int64)
        sample(logits, rows.first, self._random.random(n), chosen, np.empty(n, dtype=np.float32))
        at = rows.first[:-1] + chosen
        actions[rows.view] = rows.numbers[at]
        of, seats = tables.asked_tables[rows.view].copy(), tables.asked_seats[rows.view].copy()
        oracle = np.empty((n, N_ORACLE), dtype=np.float32)
        write_oracle(tables.raw, np.zeros((TABLES, N_SEATS), dtype=np.int8), of, seats, oracle)
        is_discard = rows.numbers[at] <= TSUMOGIRI
        k = np.flatnonzero(is_discard)
        after = after_actions(tables.records[of[k]], nobody_else(len(k)), seats[k], rows.numbers[at[k]])
        if self.critic is not None:
            judged += self._judge(views, rows, logits, chosen, sum(len(step[0]) for step in steps))
        kept = rows.states.copy(), oracle, of.astype(np.int64), seats.astype(np.int64), is_discard
        steps.append((*kept, rows.actions[at[k]], after))
        return actions

    def _judge(
        self, views: np.ndarray, rows: Rows, logits: np.ndarray, chosen: np.ndarray, before: int
    ) -> Iterator[Choice]:
        """Ask the critic about the choices among discards; `before`: choices of the round before those of `rows`."""
        tables, critic = self._tables, self.critic
        assert critic is not None
        for row in range(len(rows.view)):
            first, end = rows.first[row], rows.first[row + 1]
            chances = np.exp(logits[first:end] - logits[first:end].max())
            chances /= chances.sum()
            likely = np.argsort(-chances, kind="stable")[:MOST]
            likely = likely[chances[likely] >= LEAST]
            numbers = rows.numbers[first + likely]
            if len(likely) < 2 or chosen[row] not in likely or (numbers > TSUMOGIRI).any():
                continue
            view = views[rows.view[row]]
            seat, of = int(view["viewer"]), int(tables.asked_tables[rows.view[row]])
            if int(view["legal"][seat, NUKIDORA // 64]) >> NUKIDORA % 64 & 1:
                continue
            share = chances[likely] / chances[likely].sum()
            seen = np.concatenate([np.tile(rows.states[row], (len(likely), 1)), rows.actions[first + likely]], axis=1)
            found = []
            for worlds in (
                tables.records[of : of + 1],
                *(sampled_worlds(np.array([view]), WORLDS, int(self._seeds(1)[0])) for _ in range(2)),
            ):
                m = len(worlds)
                every, seats = np.tile(worlds, len(likely)), np.full(m * len(likely), seat, dtype=np.int8)
                after = after_actions(every, nobody_else(len(every)), seats, np.repeat(numbers, m))
                with torch.no_grad():
                    values = critic(torch.from_numpy(seen), torch.from_numpy(after), m).numpy()
                found.append(values.reshape(len(likely), m).mean(axis=1))
            which = int(np.flatnonzero(likely == chosen[row])[0])
            prior, true, *chains = (
                float(each[which] - share @ each) for each in (LOGIT_VALUE * logits[first + likely], *found)
            )
            riichi = any(view["seat"][(seat + step) % N_SEATS]["riichi"] for step in (1, 2))
            kind = 2 if riichi else int(rows.states[row, BEST_AT] * 6 < 1.5)
            yield Choice(before + row, of, kind, prior, true, (chains[0], chains[1]))


class Learning:
    """The critic of positions while it learns."""

    def __init__(self) -> None:
        self._critic = Critic(FEATURES.n_state)
        self._optimizer = torch.optim.Adam(self._critic.parameters(), lr=RATE, eps=1e-5)

    def advantages(self, part: Round) -> np.ndarray:
        """The advantages float32[DECAYS, n] of the choices of a round; then learn from it."""
        base = part.states[:, RULE_STATE_AT + STATE.no_win_value] - 2  # the value without a win or a deal-in
        states, oracle = torch.from_numpy(part.states), torch.from_numpy(part.oracle)
        with torch.no_grad():
            values = base + self._critic(states, oracle).numpy()
        found = np.empty((len(DECAYS), len(values)), dtype=np.float32)
        for decay, out in zip(DECAYS, found):
            estimate_advantages(part.table, part.seat, values, part.ends, decay, out)
        targets = torch.from_numpy(values + found[1] - base)
        for rows in torch.split(torch.randperm(len(values)), BATCH):
            loss = (self._critic(states[rows], oracle[rows]) - targets[rows]).square().mean()
            descend(self._optimizer, self._critic, loss)
        return found


def learn(seen: torch.Tensor, after: torch.Tensor, advantages: torch.Tensor) -> DiscardCritic:
    """A critic of discards that has learned the advantages float32[n]; the rate falls to 0."""
    critic = DiscardCritic(seen, after)
    optimizer = torch.optim.Adam(critic.parameters(), lr=RATE)
    batches = [rows for _ in range(EPOCHS) for rows in torch.split(torch.randperm(len(advantages)), BATCH)]
    for i, rows in enumerate(batches):
        optimizer.param_groups[0]["lr"] = RATE * (1 - i / len(batches))
        loss = (critic(seen[rows], after[rows]) - advantages[rows]).square().mean()
        descend(optimizer, critic, loss)
    return critic


def report(found: np.ndarray) -> None:
    """Print the slopes: by table and round, kind, prior, true, two chains, and the advantages by DECAYS."""
    games, kinds = np.unique(found[:, 0], return_inverse=True)[1], found[:, 1].astype(int)
    for kind, name in enumerate((*KINDS, "all")):
        some = kinds == kind if kind < len(KINDS) else np.full(len(found), True)
        prior, true, *chains = found[some, 2:6].T
        print(f"{name}: {some.sum():,} choices; standard deviation of the critic {true.std():.4f}, in worlds", end=" ")
        print(f"{np.mean(chains[0] * chains[1]) ** 0.5:.4f} without noise, of the prior {prior.std():.4f}")
        for decay, advantage in zip(DECAYS, found[some, 6:].T):
            for where, pair in (("at the true hands", [true, true]), ("in worlds", chains)):
                told = slopes(advantage, prior, np.array(pair), games[some]).replace("worlds", "critic")
                print(f"  lambda {decay}, {where}: {told}")


def main() -> None:
    """Measure and print."""
    if len(sys.argv) > 2 or not all(each.isdecimal() for each in sys.argv[1:]):
        sys.exit(f"usage: python {sys.argv[0]} [LEARNED]")
    learned = int(sys.argv[1]) if len(sys.argv) > 1 else 30
    rounds = learned + JUDGED
    torch.manual_seed(0)
    player, learning = Player(), Learning()
    seen, after, advantages, found = [], [], [], []
    with Progress("rounds", rounds) as progress:
        for number, part in zip(range(rounds), player.rounds()):
            by_decay = learning.advantages(part)
            if WARM_UP <= number < learned:
                seen.append(np.concatenate([part.states[part.discard], part.actions], axis=1))
                after.append(part.after)
                advantages.append(by_decay[0, part.discard])
            if number + 1 == learned:
                player.critic = learn(*(torch.from_numpy(np.concatenate(each)) for each in (seen, after, advantages)))
            for each in part.judged:
                row = number * TABLES + each.table, each.kind, each.prior, each.true, *each.chains
                found.append((*row, *by_decay[:, each.row]))
            progress.advance()
    print(f"learned from {sum(map(len, advantages)):,} discards; judged {len(found):,} choices")
    report(np.array(found))


if __name__ == "__main__":
    main()
