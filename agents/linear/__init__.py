"""Two bots that add up features: `linear` plays the highest value, `softmax` is a policy over the same values.

`features`       the table of features: name, starting weight, meaning
`hand`           the features of a hand, compiled; `context` is what all actions of a view share
`candidates`     the distinct actions, and the hand after each
`kernels`        the compiled functions that play, and that write features
`weights`, `bot` weights files, and the two bots
`data`, `files`  choices from records and self-play, as CSV and Parquet
`losses`, `training`, `scale`  learning the weights from choices; `config` its settings
`commands`, `cli`              ``python -m agents.linear``
"""
