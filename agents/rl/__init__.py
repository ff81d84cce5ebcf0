"""Reinforcement learning: the policy networks of `residual` and `selfplay`, and ``python -m agents.rl train``.

Playing needs numpy and numba only:

- `rows`: positions as features; `suits`: pin and sou are alike
- `policy`: the network, its file, its compiled forward pass; `bot` plays with it

Training needs PyTorch:

- `rollouts`: tables in lock step that give experience; `oracle`, `situation`: what the critic and the values see
- `settings`: hyperparameters and options; `families`: the bots whose networks can be trained
- `networks`: what is trained; `ppo`: advantages, losses, steps of Adam
- `training`: iterations, measurements, and the state on disk; `agents.training` has the loop
- `evaluation`: how strong a network is; `plot`: the curve of a run
- `commands`: all of it, as the options of `cli` say
"""
