"""Evaluating a network: how well it predicts, without playing.

==============  ======================================================================================================
`commands`      ``python -m agents.bert evaluate``
`validation`    metrics on the validation games of a data folder
`records`       agreement with the players of recorded games, compared with the rule bot's
`metrics`       accuracy, recall, precision, calibration, as functions of arrays
`report`        the metrics as tables on screen
==============  ======================================================================================================
"""
