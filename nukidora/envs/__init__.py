"""Environments for reinforcement learning: importing this package registers ``nukidora/Sanma-v0`` with Gymnasium.

- `observations`: a seat's information as planes, tokens or its view, for thousands of views at once
- `games`: games of one learner and two bots in lockstep, the basis of both environments
- `vector`, `single`: the environments that `gymnasium.make_vec` and `gymnasium.make` return

Gymnasium imports it by itself for ``gymnasium.make_vec("nukidora.envs:nukidora/Sanma-v0")``. Needs the extra ``[rl]``.
"""

from __future__ import annotations

from engine.common.program import missing

try:
    import gymnasium
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(missing(error), name=error.name) from None

ID = "nukidora/Sanma-v0"

gymnasium.register(
    ID,
    entry_point="nukidora.envs.single:SanmaEnv",
    vector_entry_point="nukidora.envs.vector:SanmaVectorEnv",
)
