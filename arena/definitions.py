"""python -m arena columns: defines the columns of the arena's tables, and all other statistics."""

from __future__ import annotations

from collections.abc import Sequence

from engine.common.options import HelpFormatter, Parser
from engine.common.program import OK

TEXT = """\
Intervals are 95 % confidence intervals by Student's t distribution; the rotations of a wall together are one
observation.

{columns}

--statistics also shows, and --json FILE always holds (shares as fractions of 1, with the histograms behind the
medians):

{statistics}
"""


def main(arguments: Sequence[str]) -> int:
    """Print the definitions and return the exit code."""
    parser = Parser("arena columns", description=__doc__)
    parser.parse_args(arguments)
    from arena.columns import columns_defined, statistics_defined

    formatter = HelpFormatter(parser.prog)
    formatter.add_text(TEXT.format(columns=columns_defined(), statistics=statistics_defined()))
    print(formatter.format_help(), end="")
    return OK
