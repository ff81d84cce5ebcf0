"""torchrl 0.14.1: one game in `GymEnv`, and three players in `PettingZooWrapper`, at random by the masks.

    pip install "torchrl==0.14.*" -c constraints.txt -e ".[rl]"
    python examples/rl_libraries/torchrl_players.py

`ActionMask` makes the random actions of `GymEnv` legal; `PettingZooWrapper` reads the masks itself.
"""

from __future__ import annotations

from torchrl.envs import ActionMask, GymEnv, PettingZooWrapper, TransformedEnv
from torchrl.envs.utils import check_env_specs

from nukidora.envs import sanma_v0


def main() -> None:
    """Check both with torchrl's checker, play, and print one line."""
    settings = {"opponents": ("random", "random"), "length": "east"}
    game = GymEnv("nukidora.envs:nukidora/Sanma-v0", categorical_action_encoding=True, **settings)
    one = TransformedEnv(game, ActionMask())
    three = PettingZooWrapper(sanma_v0.env(length="east"), use_mask=True, categorical_actions=True)
    for env in (one, three):
        check_env_specs(env)
    played, together = (env.rollout(500, break_when_any_done=False) for env in (one, three))
    assert played["action_mask"].gather(-1, played["action"][..., None]).all()
    ends = [int(each["next", "done"].sum()) for each in (played, together)]
    rewards = {name: float(together["next", name, "reward"].sum()) for name in ("player_0", "player_1", "player_2")}
    print(f"torchrl: GymEnv {len(played)} steps, {ends[0]} games; PettingZooWrapper {ends[1]} games, rewards {rewards}")


if __name__ == "__main__":
    main()
