"""Training data: making folders of samples, and reading them in batches.

A sample is one decision: its token sequence, its legal labels, their regrets, and how the game ended for the seat.

==============  ======================================================================================================
`build`         the command ``python -m agents.bert data``
`sources`       self-play and record files as data sources, split into chunks, one for each shard
`selfplay`      `SelfPlayConfig`, and the samples of games between bots
`records`       the samples of recorded games
`seat_filter`   whose decisions are collected (``--decisions``)
`collect`       `SampleCollector`, which encodes decisions and puts the samples of many games into one shard
`shards`        the file format of a shard
`manifest`      the folder: ``manifest.json``, bad files, how much it holds
`workers`       makes shards in several processes
`dataset`       reads a folder: training and validation split, shuffling, batches
==============  ======================================================================================================
"""
