"""The strength dial: any bot, weaker by a number of points (``rule@-300``).

400 points are a factor of 10 in the odds of finishing ahead (see `engine.contests.ratings`).

* `spec`: the strength in the text of a bot;
* `dial`: a bot that plays another one's actions less and less well;
* `scale`: the setting of the dial for a number of points, as measured by ``python -m arena calibrate BOT``.
"""
