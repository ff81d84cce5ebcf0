"""Proximal policy optimization in plain PyTorch on the vector environment, and a bot that plays what it has learned.

    python examples/ppo.py runs/ppo --minutes 30
    python -m arena --bots examples/ppo.py:Trained:runs/ppo,tsumogiri,random --games 300

Ctrl-C stops a run, and the same command continues it. The method is that of Schulman et al., "Proximal Policy
Optimization Algorithms" (2017), with advantages by generalized advantage estimation (2016). It needs the extra `[rl]`.
"""

from __future__ import annotations

import argparse
import csv
import sys
import time
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import torch
from torch import Tensor, nn

from engine.actions import ANKAN, N_ACTIONS, PASS, TSUMOGIRI
from engine.common.files import write_atomically
from engine.common.progress import Progress
from engine.tiles import KIND_5P, KIND_5S, N_KINDS
from nukidora.envs.observations import CHANNELS, N_CHANNELS, action_masks, planes

WIDTH = 64
N_PLAIN = PASS + 1 - TSUMOGIRI  # the actions that name no tile
DISCARD_HEAD, RED_HEAD, ANKAN_HEAD, KAKAN_HEAD = range(4)
RED_FIVES = [4, KIND_5P, KIND_5S]  # the kinds of the actions "discard 5mr", "discard 5pr", "discard 5sr"
NETWORK, CHECKPOINT, CURVE = "network.pt", "checkpoint.pt", "curve.csv"
COLUMNS = ("minutes", "decisions", "games", "placement", "interval")

ENVS, STEPS = 256, 16  # a rollout is STEPS decisions of ENVS learners
EPOCHS, MINIBATCH = 3, 512
LEARNING_RATE, CLIP, ENTROPY, VALUE, MAX_GRADIENT = 1e-3, 0.2, 0.01, 0.5, 1.0
DISCOUNT, TRACE = 0.99, 0.95  # gamma and lambda
REWARD_UNIT = 8.0  # thousands of points that are a reward of 1
ROW_EVERY = 60.0  # seconds between two rows of the curve


class Network(nn.Module):
    """A perceptron that all kinds share, a summary of all kinds, and again one that all kinds share."""

    def __init__(self) -> None:
        super().__init__()
        self.kinds = nn.Linear(N_CHANNELS, WIDTH)
        self.which = nn.Parameter(0.1 * torch.randn(N_KINDS, WIDTH))  # tells the kinds apart
        self.summary = nn.Sequential(nn.Linear(WIDTH, WIDTH), nn.ReLU())
        self.from_summary = nn.Linear(WIDTH, WIDTH)
        self.hidden = nn.Linear(WIDTH, WIDTH)
        self.by_kind = nn.Linear(WIDTH, 4)
        self.plain = nn.Linear(2 * WIDTH, N_PLAIN)
        self.value = nn.Sequential(nn.Linear(2 * WIDTH, WIDTH), nn.ReLU(), nn.Linear(WIDTH, 1))
        for last in (self.by_kind, self.plain, self.value[-1]):
            nn.init.normal_(last.weight, std=0.01)

    def forward(self, x: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        """Log-probabilities float[n, N_ACTIONS] and values float[n] of planes float[n, N_CHANNELS, 34].

        `mask` bool[n, N_ACTIONS]: the legal actions.
        """
        kinds = torch.relu(self.kinds(x.transpose(1, 2)) + self.which)
        summary = self.summary(kinds.mean(1))
        hidden = torch.relu(self.hidden(kinds) + self.from_summary(summary)[:, None])
        both = torch.cat([summary, hidden.mean(1)], 1)
        by_kind, plain = self.by_kind(hidden), self.plain(both)
        discards = by_kind[:, :, DISCARD_HEAD]
        reds = (by_kind[:, :, DISCARD_HEAD] + by_kind[:, :, RED_HEAD])[:, RED_FIVES]
        drawn = (discards * x[:, CHANNELS["drawn"].start]).sum(1, keepdim=True)  # the tile that tsumogiri discards
        plain = torch.cat([plain[:, :1] + drawn, plain[:, 1:]], 1)
        logits = torch.cat([discards, reds, plain, by_kind[:, :, ANKAN_HEAD], by_kind[:, :, KAKAN_HEAD]], 1)
        assert logits.shape[1] == N_ACTIONS
        assert discards.shape[1] + reds.shape[1] + plain.shape[1] == ANKAN
        return torch.log_softmax(logits.masked_fill(~mask, -1e9), 1), self.value(both)[:, 0]


class Trained:
    """The bot: takes the action to which the network of a folder gives the highest probability."""

    def __init__(self, argument: str | None) -> None:
        """`argument`: the folder of a run. Raises ValueError if it holds no network."""
        path = Path(argument or "runs/ppo") / NETWORK
        torch.set_num_threads(1)  # the arena plays in as many processes as there are cores
        self.name = "ppo"
        self._network = Network()
        try:
            self._network.load_state_dict(torch.load(path, weights_only=True))
        except FileNotFoundError:
            raise ValueError(f"there is no {path}: python examples/ppo.py {path.parent} makes it") from None
        except Exception as error:  # torch raises a dozen kinds for damaged files
            raise damage_error(path, error) from None

    def act(self, views: np.ndarray) -> np.ndarray:
        """Choose the most probable legal actions."""
        with torch.inference_mode():
            mask = torch.from_numpy(action_masks(views)).bool()
            policy, _ = self._network(torch.from_numpy(planes(views)), mask)
            actions: np.ndarray = policy.argmax(1).numpy()
            return actions


def damage_error(path: Path, error: Exception) -> ValueError:
    """What is wrong with a file of a run, in one line."""
    what = (str(error).splitlines() or [type(error).__name__])[-1].strip()
    return ValueError(f"{path}: damaged, or made by a version with other planes ({what}); train in another folder")


class Rollout:
    """STEPS decisions of all learners. `x` and so on are [STEPS, ENVS, …]; the last values have one more row."""

    def __init__(self) -> None:
        self.x = torch.zeros(STEPS, ENVS, N_CHANNELS, N_KINDS)
        self.mask = torch.zeros(STEPS, ENVS, N_ACTIONS, dtype=torch.bool)
        self.action = torch.zeros(STEPS, ENVS, dtype=torch.int64)
        self.log_probability, self.reward = torch.zeros(STEPS, ENVS), torch.zeros(STEPS, ENVS)
        self.ended = torch.zeros(STEPS, ENVS, dtype=torch.bool)  # the game ended with this action
        self.decided = torch.zeros(STEPS, ENVS, dtype=torch.bool)  # false for the step that begins the next game
        self.value = torch.zeros(STEPS + 1, ENVS)

    def advantages(self) -> Tensor:
        """Generalized advantage estimates float[STEPS, ENVS]; none are carried over the end of a game."""
        found, later = torch.zeros(STEPS, ENVS), torch.zeros(ENVS)
        for t in reversed(range(STEPS)):
            goes_on = (~self.ended[t]).float()
            error = self.reward[t] + DISCOUNT * goes_on * self.value[t + 1] - self.value[t]
            later = error + DISCOUNT * TRACE * goes_on * later
            found[t] = later
        return found


class Run:
    """A training run in a folder."""

    def __init__(self, folder: Path, opponents: str, seed: int) -> None:
        """Begin a run against `opponents`, or continue that in the folder. Raises ValueError if that cannot be done."""
        self.folder = folder
        self.options = {"opponents": opponents, "seed": seed}
        torch.manual_seed(seed)
        self.network = Network()
        self.optimizer = torch.optim.Adam(self.network.parameters(), lr=LEARNING_RATE)
        self.seconds, self.decisions, self.games = 0.0, 0, 0
        if (folder / CHECKPOINT).exists():
            self._load()
        self.envs = gymnasium.make_vec(
            "nukidora.envs:nukidora/Sanma-v0",
            num_envs=ENVS,
            opponents=tuple(opponents.split(",")),
            observation="planes",
            reward="round_points",
            length="east",
        )
        self.rollout = Rollout()
        self.placements: list[int] = []  # of the games since the last row of the curve
        self._seen, _ = self.envs.reset(seed=(seed << 32) + self.decisions)
        self._ended = np.zeros(ENVS, dtype=bool)

    def collect(self) -> None:
        """Fill the rollout by playing."""
        r = self.rollout
        for t in range(STEPS):
            r.x[t] = torch.from_numpy(self._seen["observation"])
            r.mask[t] = torch.from_numpy(self._seen["action_mask"]).bool()
            with torch.inference_mode():
                policy, r.value[t] = self.network(r.x[t], r.mask[t])
                r.action[t] = torch.multinomial(policy.exp(), 1)[:, 0]
                r.log_probability[t] = policy.gather(1, r.action[t, :, None])[:, 0]
            r.decided[t] = torch.from_numpy(~self._ended)
            self._seen, rewards, self._ended, _, info = self.envs.step(r.action[t].numpy())
            r.reward[t] = torch.from_numpy(rewards / REWARD_UNIT)
            r.ended[t] = torch.from_numpy(self._ended)
            if self._ended.any():
                self.placements += info["placement"][self._ended].tolist()
        with torch.inference_mode():
            last, mask = torch.from_numpy(self._seen["observation"]), torch.from_numpy(self._seen["action_mask"])
            r.value[STEPS] = self.network(last, mask.bool())[1]
        self.decisions += int(r.decided.sum())
        self.games += int(r.ended.sum())

    def learn(self) -> None:
        """Improve the network by the rollout."""
        r = self.rollout
        advantages = r.advantages()
        returns = advantages + r.value[:STEPS]
        decided = r.decided.flatten().nonzero()[:, 0]
        chosen = advantages.flatten()[decided]
        normal = (advantages.flatten() - chosen.mean()) / (chosen.std() + 1e-6)
        for _ in range(EPOCHS):
            for rows in decided[torch.randperm(len(decided))].split(MINIBATCH):
                policy, value = self.network(r.x.flatten(0, 1)[rows], r.mask.flatten(0, 1)[rows])
                new = policy.gather(1, r.action.flatten()[rows, None])[:, 0]
                ratio = (new - r.log_probability.flatten()[rows]).exp()
                gain = torch.min(ratio * normal[rows], ratio.clamp(1 - CLIP, 1 + CLIP) * normal[rows]).mean()
                entropy = -(policy.exp() * policy.clamp(min=-1e4)).sum(1).mean()
                error = nn.functional.mse_loss(value, returns.flatten()[rows])
                self.optimizer.zero_grad()
                (VALUE * error - gain - ENTROPY * entropy).backward()
                nn.utils.clip_grad_norm_(self.network.parameters(), MAX_GRADIENT)
                self.optimizer.step()

    def check(self) -> None:
        """Raise ValueError if weights are not finite."""
        if not all(bool(each.isfinite().all()) for each in self.network.parameters()):
            raise ValueError(f"{self.folder}: weights became infinite or NaN, which is not saved")

    def save(self) -> None:
        """Write the network, and all that is needed to go on. Raises ValueError if weights are not finite."""
        self.check()
        state: dict[str, Any] = {"network": self.network.state_dict(), "optimizer": self.optimizer.state_dict()}
        state |= {"seconds": self.seconds, "decisions": self.decisions, "games": self.games, "options": self.options}
        for name, content in ((NETWORK, state["network"]), (CHECKPOINT, state)):
            with write_atomically(self.folder / name) as file:
                torch.save(content, file)

    def _load(self) -> None:
        path = self.folder / CHECKPOINT
        try:
            state: dict[str, Any] = torch.load(path, weights_only=True)
            self.network.load_state_dict(state["network"])
            self.optimizer.load_state_dict(state["optimizer"])
            self.seconds, self.decisions, self.games = state["seconds"], state["decisions"], state["games"]
            before = dict(state.get("options", self.options))  # earlier versions did not save them
        except Exception as error:  # torch raises a dozen kinds for damaged files
            raise damage_error(path, error) from None
        for name, value in self.options.items():
            if before.get(name) != value:
                what = f"began with --{name} {before.get(name)}, not {value}"
                raise ValueError(f"{path}: {what}; give the same, or another folder")

    def add_row(self) -> str:
        """Append the placement in the games since the last row to the curve; returns it as text."""
        n = len(self.placements)
        placement = float(np.mean(self.placements)) if n else float("nan")
        interval = 1.96 * float(np.std(self.placements)) / n**0.5 if n else float("nan")
        self.placements = []
        path = self.folder / CURVE
        is_new = not path.exists()
        with path.open("a", newline="", encoding="utf-8") as file:
            rows = csv.writer(file)
            if is_new:
                rows.writerow(COLUMNS)
            row = f"{self.seconds / 60:.2f}", self.decisions, self.games, f"{placement:.3f}", f"{interval:.3f}"
            rows.writerow(row)
        return f"placement {placement:.2f} ± {interval:.2f} in the last {n:,} game{'s' * (n != 1)}"


def train(run: Run, seconds: float) -> None:
    """Train until the run has lasted so many seconds; save and add to the curve every minute, and at the end.

    Ctrl-C also saves. After any other exception, the run can be continued from the last minute. Raises ValueError if
    weights are not finite.
    """
    row_at = (run.seconds // ROW_EVERY + 1) * ROW_EVERY
    with Progress("seconds", round(seconds), round(run.seconds)) as progress:
        try:
            while run.seconds < seconds:
                start = time.monotonic()
                run.collect()
                run.learn()
                run.check()
                run.seconds += time.monotonic() - start
                if run.seconds >= row_at:
                    progress.print(f"{run.seconds / 60:.0f} min, {run.decisions:,} decisions: {run.add_row()}")
                    run.save()
                    row_at += ROW_EVERY
                progress.advance(min(round(run.seconds), round(seconds)) - progress.done)
        except KeyboardInterrupt:
            end(run, progress)
            raise
        end(run, progress)


def end(run: Run, progress: Progress) -> None:
    """Save the run, and add to the curve. Raises ValueError if weights are not finite."""
    run.save()
    if run.placements:
        progress.print(run.add_row())


def main() -> int:
    """Train, and return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="of the run; it is continued if there is one")
    parser.add_argument("--minutes", type=float, default=30.0, help="of training in all (default: 30)")
    parser.add_argument("--opponents", default="tsumogiri,random", help="two bots (default: tsumogiri,random)")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    try:
        options.folder.mkdir(parents=True, exist_ok=True)
        run = Run(options.folder, options.opponents, options.seed)
    except (ValueError, OSError) as error:
        parser.error(str(error))
    try:
        train(run, 60 * options.minutes)
    except KeyboardInterrupt:
        print(f"stopped after {run.seconds / 60:.1f} minutes; the same command continues", file=sys.stderr)
        return 130
    except ValueError as error:
        print(f"{error}; the same command continues from {run.folder / CHECKPOINT}, if there is one", file=sys.stderr)
        return 1
    print(f"play it: python -m arena --bots examples/ppo.py:Trained:{options.folder},tsumogiri,random --games 300")
    return 0


if __name__ == "__main__":
    sys.exit(main())
