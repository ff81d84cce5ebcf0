"""The ladder: the league of all built-in bots (`arena.leagues`), and a page of it; ``python -m arena ladder``.

- `page`: the league as Markdown
- `cli`: the command line; `running` does what it says
"""
