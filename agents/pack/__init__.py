"""``python -m agents.pack BOT -o bot.pyz``: a bot in one file, which speaks mjai on stdin and stdout.

* `contents`: which modules, files and packages a bot needs: what it imports and opens while it plays a round;
* `archive`: writes them into a zip file that Python runs; `packing`: both, and the trial;
* `launcher`: the first code of that file, which unpacks the rest; `player`: the program that plays.
"""
