"""The strength dial: any bot, weaker by a number of points (``rule@-300``).

400 points are a factor of 10 in the odds of finishing ahead (see `engine.contests.ratings`).

* `spec`: the strength in the text of a bot;
* `dial`: a bot that plays another one's actions less and less well;
* `scale`: how far the dial must be turned for so many points, as ``python -m arena calibrate BOT`` has measured it.
"""
