"""What all trainers share: those of `agents.bert`, `agents.linear` and `agents.rl`.

`settings`    settings as fields of a dataclass; command line, help and saved runs follow
`loop`        the loop: steps with progress, saved from time to time, stopped by Ctrl-C
`checkpoint`  refusing damaged files of a run; `folders`: the folders of runs of other trainers
`schedule`    the learning rate over a run
`memory`      the allocator; `devices`: what a device can do, the only module that needs PyTorch
"""
