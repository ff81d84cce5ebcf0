"""tianshou 2.0.1: three players in `PettingZooEnv`; player_0 learns by DQN, the others act at random.

    pip install "tianshou==2.0.*" "torch==2.13.0" -e ".[rl]"
    python examples/rl_libraries/tianshou_dqn.py

It goes without constraints.txt, for tianshou wants pandas below 3. Its DQN and its random agent read the masks.
"""

from __future__ import annotations

import numpy as np
from tianshou.algorithm import DQN, MARLRandomDiscreteMaskedOffPolicyAlgorithm, MultiAgentOffPolicyAlgorithm
from tianshou.algorithm.modelfree.dqn import DiscreteQLearningPolicy
from tianshou.algorithm.optim import AdamOptimizerFactory
from tianshou.data import Collector, VectorReplayBuffer
from tianshou.env import DummyVectorEnv, PettingZooEnv
from tianshou.utils.net.common import Net
from tianshou.utils.torch_utils import policy_within_training_step

from nukidora.envs import sanma_v0


def make() -> PettingZooEnv:
    """One table."""
    return PettingZooEnv(sanma_v0.env(length="east"))


def main() -> None:
    """Play, learn a few times, and print one line."""
    env = make()
    shape, n_actions = env.observation_space["observation"].shape, int(env.action_space.n)
    policy = DiscreteQLearningPolicy(
        model=Net(state_shape=shape, action_shape=n_actions, hidden_sizes=(64,)),
        action_space=env.action_space,
        observation_space=env.observation_space,
        eps_training=0.1,
    )
    learner = DQN(policy=policy, optim=AdamOptimizerFactory(lr=1e-3))
    others = [MARLRandomDiscreteMaskedOffPolicyAlgorithm(env.action_space) for _ in range(2)]
    players = MultiAgentOffPolicyAlgorithm(algorithms=[learner, *others], env=env)
    buffer = VectorReplayBuffer(20_000, 2)
    collector = Collector(players, DummyVectorEnv([make] * 2), buffer, exploration_noise=True)
    collector.reset()
    found = collector.collect(n_step=1_200)
    with policy_within_training_step(players.policy):
        for _ in range(5):
            players.update(buffer=buffer, sample_size=64)
    played, _ = buffer.sample(0)
    assert played.obs.mask[np.arange(len(played)), played.act].all()
    print(
        f"tianshou: {found.n_collected_steps} steps, {found.n_collected_episodes} games, rewards {found.returns.sum(0)}"
    )


if __name__ == "__main__":
    main()
