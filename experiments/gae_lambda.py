"""The signal in the policy gradient for each lambda of generalized advantage estimation.

    python experiments/gae_lambda.py FOLDER [OPTIONS OF THE RUN]

FOLDER is a run of `agents.rl train`, with the options that it was trained with, except --device. Its
policy plays ITERATIONS rounds at all tables, and each lambda gives a gradient for the games at even and for those at
odd tables. Both are scaled as Adam scales them. Most of a gradient only makes the policy sharper or softer, which the
entropy bonus decides, so the component along the gradient of the entropy is taken out. The cosine between the halves
shows how much of a gradient is signal; the cosine with the other half for lambda 0.8 shows whether another lambda
points elsewhere. Three minutes on two cores; docs/experiments.md has the results.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
import torch

from agents.rl.cli import settings_of, train_parser
from agents.rl.ppo import Choices, Learner
from agents.rl.rollouts import Experience
from agents.rl.training import STATE, Run
from agents.training.memory import keep_freed_memory

ITERATIONS = 30
LAMBDAS = (0.0, 0.3, 0.6, 0.8, 0.9, 1.0)
REFERENCE = LAMBDAS.index(0.8)
BATCH = 8192


def evaluations(learner: Learner, part: Experience) -> list[Choices]:
    """The choices with their advantages by each of LAMBDAS."""
    found = []
    for each in LAMBDAS:
        learner.hyperparameters = replace(learner.hyperparameters, gae_lambda=each)
        found.append(learner.evaluate(part))
    return found


def losses(learner: Learner, parts: Sequence[Choices], rows: torch.Tensor) -> Iterator[torch.Tensor]:
    """The policy's objective by each of LAMBDAS, and its entropy, summed over the choices `rows` int64[:]."""
    choices = parts[0]
    log_policy, *_ = learner.log_policies(choices, rows, choices.states[rows])
    chosen = log_policy.gather(1, choices.chosen[rows, None])[:, 0]
    for part in parts:
        yield (chosen * part.advantage[rows]).sum()
    yield -(log_policy.exp() * log_policy).sum()


def gradients(run: Run, iterations: int) -> tuple[torch.Tensor, torch.Tensor, int]:
    """The gradients, the sums of the squared advantages float32[lambdas], and the number of choices.

    The gradients float32[2, lambdas + 1, weights] are sums over the choices of even and of odd tables, divided by the
    roots of Adam's second moments; the last of them is that of the entropy.
    """
    learner, state = run.learner, run.learner.optimizer.state
    parameters = list(learner.policy.parameters())
    scale = torch.cat([1 / (state[each]["exp_avg_sq"].sqrt().reshape(-1) + 1e-5) for each in parameters])
    total = torch.zeros(2, len(LAMBDAS) + 1, len(scale))
    squares, n = torch.zeros(len(LAMBDAS)), 0
    for iteration in range(iterations):
        for experience in run.act():
            parts = evaluations(learner, experience)
            squares += torch.stack([part.advantage.square().sum() for part in parts])
            n += len(experience.seat)
            for half in range(2):
                rows = torch.from_numpy(np.flatnonzero(experience.table % 2 == half))
                for some in torch.split(rows, BATCH) if len(rows) else ():
                    for k, loss in enumerate(losses(learner, parts, some)):
                        found = torch.autograd.grad(loss, parameters, retain_graph=True)
                        total[half, k] += torch.cat([each.reshape(-1) for each in found])
        print(f"\r{iteration + 1} of {iterations} rounds", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    return total * scale, squares, n


def main() -> None:
    """Print the table."""
    parser = train_parser()
    options = parser.parse_args()
    if options.device != "cpu":
        parser.error("it runs on the CPU of this machine alone: leave out --device")
    if not (options.folder / STATE).is_file():
        parser.error(f"{options.folder} has no {STATE}: train a network first, by python -m agents.rl train")
    keep_freed_memory()
    run = Run(options.folder, settings_of(options), options.start)
    if not run.learner.optimizer.state:
        parser.error(f"{options.folder}: its policy has not begun to learn; train it further")
    total, squares, n = gradients(run, ITERATIONS)
    entropy = torch.nn.functional.normalize(total[:, -1].sum(0), dim=0)
    found, along = total[:, :-1], total[:, :-1] @ entropy
    whole = found.sum(0)
    share = (whole @ entropy) / whole.norm(dim=1)
    rest = torch.nn.functional.normalize(found - along[..., None] * entropy, dim=2)
    cosines = rest[0] @ rest[1].T
    print(f"{n:,} choices; lambda, standard deviation of the advantages, cosine with the gradient of the entropy,")
    print("and without that component: cosine of both halves, cosine with the other half for lambda 0.8")
    for k, each in enumerate(LAMBDAS):
        across = (cosines[k, REFERENCE] + cosines[REFERENCE, k]) / 2
        print(f"{each:6.1f}{float(squares[k] / n) ** 0.5:8.3f}{share[k]:8.2f}{cosines[k, k]:8.3f}{across:8.3f}")


if __name__ == "__main__":
    main()
