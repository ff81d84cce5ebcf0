"""What all trainers share: those of `agents.bert`, `agents.linear` and `agents.rl`.

`loop`        the loop: steps with progress, saved from time to time, stopped by Ctrl-C
`schedule`    the learning rate over a run
`checkpoint`  refusing damaged files of a run

None of these needs PyTorch. `agents.settings_option` has the settings.
"""
