"""The report of a run: one self-contained HTML page with tables and figures; ``python -m arena --html FILE``.

- `figures`: what each figure shows, as a table, and how it is drawn
- `plotting`: figures as SVG whose colours are those of the page
- `games`: the biggest games, and where to see them
- `page`: the page
"""
