"""The arena: three bots play a match on shared walls, and tables compare them.

``run``          a run: plays what its checkpoint lacks, prints the statistics, writes the results
``schedule``     settings of a run; seed and seats of every game; chunks of walls
``worker``       a worker process, which plays chunks
``play``         plays a chunk on tables in lock step
``observers``    pass the games on to external bots and to ``recorder``, which saves them
``statistics``   counts what happens; the games of a bot
``columns``      the statistics: key, heading, definition and computation of each
``results``      collects the chunks; JSON
``checkpoint``   finished chunks in a file, from which an interrupted run resumes
``report``       prints the tables
"""
