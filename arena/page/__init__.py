"""The report of a run, or of games from records: one self-contained HTML page with tables and figures.

- `figures`: what each figure shows, as a table, and how it is drawn
- `plotting`: figures as SVG whose colours are those of the page
- `games`: the biggest games, and where to see them
- `page`: the page; `match`: that of a run, ``python -m arena --html FILE``; `records`: that of games from records,
  ``python -m arena stats --html FILE``
"""
