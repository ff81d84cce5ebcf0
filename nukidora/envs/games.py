"""Games of one learner and two bots each, in lockstep: the basis of the vector and the single environment."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from numbers import Integral
from operator import attrgetter
from typing import Any, Literal, TypeAlias

import numpy as np

from agents.external.specs import is_external
from agents.files import agent_of
from agents.registry import make
from engine import kernels, table_kernels
from engine.actions import N_ACTIONS, action_name, actions_of
from engine.checks import whole_number
from engine.rules import START_POINTS, Rules, preset
from engine.seeds import derive_seed
from engine.table import GAME_OVER, N_SEATS, TABLE, packed_rules
from engine.tables import Policy, PolicyFault, Tables
from nukidora.envs.arrays import Arrays
from nukidora.envs.observations import OBSERVATIONS, action_masks, write_views

Seat: TypeAlias = Literal["rotate", 0, 1, 2]
LEARNER = 0  # its index among the players of a table
MAX_PLAYERS = 127  # learner and opponents in all games at once: an index is an int8
EVEN_PLACEMENT = 2


@dataclass(frozen=True, slots=True)
class Result:
    """How a game ended for the learner: its placement 1-3 and final points, and the scores of all seats."""

    placement: int
    final_points: float
    scores: list[int]


def placement_reward(result: Result) -> float:
    """1 for the first, 0 for the second, -1 for the third."""
    return float(EVEN_PLACEMENT - result.placement)


# A custom reward: whole tables when the learners were last asked and now, TABLE[m] each, and the learners' seats
# int8[m] -> the rewards of that step, float[m]. A round or the game may have ended in between.
RewardFunction: TypeAlias = Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]


def rewards_by(reward: RewardFunction, before: np.ndarray, after: np.ndarray, seats: np.ndarray) -> np.ndarray:
    """Return the result of a custom reward. Raises what it raises.

    Raises TypeError if it is not an array of rewards, ValueError if one is not finite.
    """
    found = np.asarray(reward(before, after, seats))
    if found.shape != seats.shape or found.dtype.kind not in "fiub":
        raise TypeError(
            f"reward must return float[{len(seats)}], one for each seat, not {found.dtype}{list(found.shape)}"
        )
    if not np.isfinite(found).all():
        raise ValueError(f"reward must return finite numbers, not {found.tolist()}")
    return found


# name of a reward -> the reward at the end of a game; None: the points of each round when it ends
REWARDS: dict[str, Callable[[Result], float] | None] = {
    "placement": placement_reward,
    "final_points": attrgetter("final_points"),
    "round_points": None,
}


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings of the games, given as keywords of ``gymnasium.make`` and ``make_vec``; see docs/environments.md."""

    opponents: Sequence[Any] = ("rule", "rule")
    observation: str = "planes"
    reward: str | RewardFunction = "placement"
    length: Literal["east", "hanchan"] | None = None
    rules: str | Rules = "tenhou"
    seat: Seat = "rotate"

    def __post_init__(self) -> None:
        if self.observation not in OBSERVATIONS:
            raise ValueError(f"unknown observation {self.observation!r}: choose one of {', '.join(OBSERVATIONS)}")
        if not callable(self.reward) and self.reward not in tuple(REWARDS):
            known = ", ".join(REWARDS)
            raise ValueError(f"unknown reward {self.reward!r}: choose one of {known}, or a function of one's own")
        is_name_or_number = isinstance(self.seat, str | Integral) and not isinstance(self.seat, bool)
        if not is_name_or_number or self.seat not in ("rotate", 0, 1, 2):
            raise ValueError(f"seat must be 'rotate', 0, 1 or 2, not {self.seat!r}")
        check_opponents(self.opponents)

    @classmethod
    def of(cls, keywords: dict[str, Any]) -> Settings:
        """Make settings from keywords. Raises TypeError for unknown keywords, and the errors of invalid settings."""
        known = [field.name for field in fields(cls)]
        if unknown := [name for name in keywords if name not in known]:
            # Python's own wording, by which torchrl's GymEnv detects that its frameskip is not accepted.
            told = f"__init__() got an unexpected keyword argument {unknown[0]!r}"
            raise TypeError(f"{told}: choose from {', '.join([*known, 'render_mode'])}")
        return cls(**keywords)

    def make_rules(self) -> Rules:
        """The rules of the games. Raises ValueError or TypeError for unknown rules or an unknown length."""
        if isinstance(self.rules, str):
            return preset(self.rules, "hanchan" if self.length is None else self.length)
        if not isinstance(self.rules, Rules):
            raise TypeError(f"rules must be the name of a preset or an engine.rules.Rules, not {self.rules!r}")
        return self.rules if self.length is None else self.rules.with_length(self.length)


def check_opponents(opponents: Any) -> None:
    """Raise ValueError unless these are two bots that an environment can play."""
    if not isinstance(opponents, list | tuple) or len(opponents) != N_SEATS - 1:
        raise ValueError(f'two opponents play, as in ("rule", "rule"), not {opponents!r}')
    for bot in opponents:
        if isinstance(bot, str) and is_external(bot):
            raise ValueError(
                f"the opponent {bot!r} is a program or a connection: environments play bots of this process, such "
                "as 'rule' or 'FILE.py:CLASS'; the arena plays programs"
            )


class Games:
    """`n` games with a learner each. After `start`, the learner of each game that is not over is asked.

    Public arrays: `seats` int8[n], the learner's seat; `over` bool[n]; `views` TABLE[n], the learner's view; `masks`
    int8[n, N_ACTIONS], its legal actions. Each `start` and `step` overwrites `seats` and `views`, and replaces
    `over` and `masks`.
    """

    def __init__(self, n: int, settings: Settings) -> None:
        """Raises ValueError or TypeError, with a one-line message, for invalid settings."""
        self.n = whole_number(n, "num_envs", "a positive integer", 1 << 24, 1)
        self.settings = settings
        self.rules = settings.make_rules()
        row = OBSERVATIONS[settings.observation]
        self._encode, self._arrays = row.encode, Arrays((self.n, *row.shape), row.dtype)
        self._own_reward = None if isinstance(settings.reward, str) else settings.reward
        self._at_end = REWARDS[settings.reward] if isinstance(settings.reward, str) else None
        self._bots: list[Any] = [None]  # by player: the learner, then the opponents of the games in progress
        self._policies: list[Policy | None] = [None]
        self._new_game: Any = np.zeros(1, dtype=TABLE)
        self._new_game["rules"], self._new_game["seat"]["score"] = packed_rules(self.rules), START_POINTS
        self.tables = Tables.from_records(np.repeat(self._new_game, self.n), self.rules)
        self.views: Any = np.zeros(self.n, dtype=TABLE)
        self.seats = np.zeros(self.n, dtype=np.int8)
        self.over = np.zeros(self.n, dtype=bool)
        self.masks = np.zeros((self.n, N_ACTIONS), dtype=np.int8)
        self._seeds = [0] * self.n  # of each environment; the seeds of its games are derived from it
        self._episodes = [-1] * self.n
        self._players = np.zeros((self.n, N_SEATS), dtype=np.int8)
        self._paid = np.full(self.n, START_POINTS, dtype=np.int64)  # the learner's score when rounds were last paid
        self.set_opponents(settings.opponents)

    def set_opponents(self, opponents: Sequence[Any]) -> None:
        """Set the two opponents of all games started from now on. Raises ValueError or TypeError, in one line.

        Games in progress keep their opponents; at most MAX_PLAYERS players are in play at once. A name or object that
        plays in one of them stands for the same policy; any other is made into a new one.
        """
        check_opponents(opponents)
        played = np.union1d(self._players, [LEARNER])  # players of games in progress; only these are kept
        bots, policies = ([held[player] for player in played] for held in (self._bots, self._policies))
        players_of = []
        for bot in opponents:
            others = enumerate(bots[LEARNER + 1 :], LEARNER + 1)
            same = [i for i, held in others if held is bot or (isinstance(bot, str) and held == bot)]
            if not same:
                same = [len(bots)]
                bots.append(bot)
                policies.append((make(bot) if isinstance(bot, str) else agent_of(bot)).act)
            players_of.append(same[0])
        if len(bots) > MAX_PLAYERS:
            raise ValueError(f"games are still played against {len(played) - 1} other opponents: at most {MAX_PLAYERS}")
        self._players = np.searchsorted(played, self._players).astype(np.int8)
        self._bots, self._policies, self._players_of = bots, policies, players_of

    def start(self, seeds: Mapping[int, int | None]) -> None:
        """Begin a game in the environments of `seeds`: the first game of the seed, or the next game if it is None."""
        for i, seed in seeds.items():
            if seed is not None:
                self._seeds[i], self._episodes[i] = seed, -1
            self._deal(i)
        self._play()

    def step(self, actions: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Take the learners' `actions` int[n], and play until they are asked again or the games are over.

        Games that were over are restarted, and their actions are ignored. Returns rewards float64[n], 0 for restarted
        games, and which games have just ended, bool[n]. Raises ValueError, with nothing changed, for an illegal action,
        TypeError if `actions` are not integers.
        """
        self.check_begun()
        begins = self.over
        acting = np.flatnonzero(~begins)
        chosen = self._check_actions(actions, acting)
        before = self.tables.records[acting] if self._own_reward is not None else None
        for i in np.flatnonzero(begins):
            self._deal(int(i))
        kernels.apply_actions(self.tables.raw, acting.astype(np.int32), self.seats[acting], chosen)
        rounds_ended = self._play()
        ended = self.over & ~begins
        if self._own_reward is not None:
            return self._rewards_of(self._own_reward, before, acting), ended
        return self._rewards(rounds_ended & ~begins | ended, ended), ended

    def begin_anew(self) -> None:
        """Begin the next game of each environment whose game is over."""
        self.start(dict.fromkeys(np.flatnonzero(self.over).tolist()))

    @property
    def begun(self) -> bool:
        """Whether `start` has been called, so that every environment has a seed."""
        return self._episodes[0] >= 0

    def check_begun(self) -> None:
        """Raise ValueError before `start`."""
        if not self.begun:
            raise ValueError("no game has begun: call reset()")

    def observe(self) -> np.ndarray:
        """Return the observations of all learners, by the settings, in an array that nobody else references."""
        return self._encode(self.views, self._arrays.take())

    def observe_some(self, which: np.ndarray) -> np.ndarray:
        """Return the observations of the learners of some games, bool[n], in a new array."""
        return self._encode(self.views[which], None)

    def result(self, i: int) -> Result:
        """The result of a game that is over."""
        scores, seat = self.tables.records["seat"]["score"][i].tolist(), int(self.seats[i])
        return Result(self.rules.ranks(scores)[seat], self.rules.final_points(scores)[seat], scores)

    def _deal(self, i: int) -> None:
        """Begin the next game of environment i, by its seed."""
        self._episodes[i] += 1
        seed, episode = self._seeds[i], self._episodes[i]
        chosen = self.settings.seat
        seat = (seed + episode) % N_SEATS if chosen == "rotate" else chosen
        self.seats[i] = seat
        for distance, player in enumerate(self._players_of, 1):
            self._players[i, (seat + distance) % N_SEATS] = player
        self._players[i, seat] = LEARNER
        self.tables.records[i] = self._new_game[0]
        self._paid[i] = START_POINTS
        table_kernels.start_game(self.tables.raw, i, np.uint64(derive_seed(seed, "game", episode)))

    def _play(self) -> np.ndarray:
        """Let the bots play until all learners are asked or their games are over; return where rounds have ended."""
        rounds_ended = np.zeros(self.n, dtype=bool)
        episodes, self._episodes = self._episodes, [-1] * self.n  # if interrupted, `masks` do not match the tables
        try:
            for ended in self.tables.play(self._policies, self._players):
                rounds_ended[ended] = True
        except PolicyFault as fault:
            name = self._bots[fault.policy]
            raise ValueError(f"the opponent {name}, env {fault.table}, seat {fault.seat}: {fault.what}") from fault
        self._episodes = episodes
        write_views(self.tables.raw, self.seats, self.views.view(np.uint8))
        self.over = self.tables.records["phase"] == GAME_OVER
        self.masks = action_masks(self.views)
        return rounds_ended

    def _rewards(self, paid: np.ndarray, ended: np.ndarray) -> np.ndarray:
        """Return the rewards of the games that have `ended`, or of the rounds of games where `paid`."""
        rewards = np.zeros(self.n)
        if self._at_end is not None:
            for i in np.flatnonzero(ended):
                rewards[i] = self._at_end(self.result(int(i)))
            return rewards
        scores = self.tables.records["seat"]["score"][np.arange(self.n), self.seats].astype(np.int64)
        rewards[paid] = (scores - self._paid)[paid] / 1_000
        self._paid[paid] = scores[paid]
        return rewards

    def _rewards_of(self, reward: RewardFunction, before: Any, acting: np.ndarray) -> np.ndarray:
        """Return the rewards of the games `acting` from a custom function. Raises TypeError if they are not rewards.

        If it raises, the games can only be continued with `start`.
        """
        rewards = np.zeros(self.n)
        if not len(acting):
            return rewards
        episodes, self._episodes = self._episodes, [-1] * self.n  # if it raises, this step is lost
        rewards[acting] = rewards_by(reward, before, self.tables.records[acting], self.seats[acting])
        self._episodes = episodes
        return rewards

    def _check_actions(self, actions: Any, acting: np.ndarray) -> np.ndarray:
        """The actions of the games `acting`, int64. Raises ValueError or TypeError."""
        array = np.asarray(actions)
        if array.shape != (self.n,) or array.dtype.kind not in "iu":
            raise TypeError(
                f"actions must be integers[{self.n}], one for each env, not {array.dtype}{list(array.shape)}"
            )
        chosen = array[acting].astype(np.int64)
        known = (chosen >= 0) & (chosen < N_ACTIONS)
        legal = known & (self.masks[acting, np.where(known, chosen, 0)] != 0)
        if not legal.all():
            bad = int(np.argmin(legal))
            i, seat = int(acting[bad]), int(self.seats[acting[bad]])
            menu = actions_of(*self.views["legal"][i, seat].tolist())
            raise ValueError(
                f"env {i}: seat {seat} may not {action_name(int(chosen[bad]))} (action {chosen[bad]}); "
                f"legal: {', '.join(f'{action_name(action)} ({int(action)})' for action in menu)}"
            )
        return chosen
