"""Reinforcement learning: the policy networks of `residual` and `selfplay`, and ``python -m agents.rl train``.

Playing needs numpy and numba only:

- `rows`: positions as features; `suits`: pin and sou are alike
- `policy`: the network, its file, its compiled forward pass; `bot` plays with it

Training needs PyTorch:

- `acting`: tables in lock step that give experience; `oracle`, `situation`: what the critic and the values see
- `settings`: hyperparameters and options; `families`: the bots whose networks can be trained
- `learning`: advantages, losses, steps of Adam; `training`: the loop, and its state on disk
- `measuring`: how strong a network is; `plot`: the curve of a run
- `running`: all of it, as the options of `cli` say
"""
