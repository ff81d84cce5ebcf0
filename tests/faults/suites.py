"""The tests that are to catch a planted fault, by product area: the one place to change when tests move."""

from __future__ import annotations

# Area -> files and folders of tests, as patterns from the repository's root. They run in this order, so the quick ones
# come first; a fault that is missed costs the time of all of them. What they start as other programs should not need
# the compiled functions that a fault may change: these are compiled when they are first called.
SUITES: dict[str, tuple[str, ...]] = {
    "rules": ("tests/engine/test_rules_*.py",),
    "scoring_examples": ("tests/engine/test_scoring.py",),
    "scoring_oracle": ("tests/engine/test_scoring_oracle.py",),
    "replay": ("tests/engine/test_replay.py", "tests/engine/test_records_real.py"),
    "hiding": ("tests/engine/test_invariants.py",),
    "mjai": ("tests/engine/mjai",),
    "records": (
        "tests/engine/test_records_*.py", "tests/engine/test_contradictions.py", "tests/engine/test_convert.py",
    ),
    "archives": ("tests/engine/test_archives*.py", "tests/engine/test_cli.py"),
    "durability": (
        "tests/server/test_restart.py", "tests/server/test_resume*.py", "tests/server/test_lost_journals.py",
        "tests/server/test_killed.py",
    ),
    "store": ("tests/server/test_store*.py",),
    "api": ("tests/server/test_api_games.py",),
    "storing": ("tests/server/test_storing.py",),
    "clocks": ("tests/server/test_clocks.py",),
    "server_faults": (
        "tests/server/test_faults.py", "tests/server/test_too_many_faults.py", "tests/server/test_failures.py",
    ),
    "limits": (
        "tests/server/test_access.py", "tests/server/test_tokens.py", "tests/server/test_api_guard.py",
        "tests/server/test_http_limits.py", "tests/server/test_hostile.py",
    ),
    "turns": ("tests/server/test_fairness.py",),
    "frames": ("tests/server/test_short_frames.py", "tests/server/test_websocket.py"),
    "reviews": ("tests/server/test_reviews.py", "tests/server/test_api_records.py", "tests/server/test_api_reviews.py"),
    "spectators": ("tests/server/test_spectators.py",),
    "leaks": ("tests/server/test_leaks.py",),
    "statistics": (
        "tests/engine/test_rounds.py", "tests/arena/test_statistics.py", "tests/arena/test_tallies.py",
        "tests/arena/test_comparison.py", "tests/engine/test_student.py", "tests/arena/test_report.py",
    ),
    "stats_of_records": ("tests/arena/test_stats.py",),
    "schedule": ("tests/arena/test_schedule.py",),
    "luck": ("tests/arena/test_luck.py",),
    "stopping": ("tests/arena/test_stopping.py",),
    "league": ("tests/arena/test_league.py",),
    "ratings": ("tests/arena/test_ratings.py",),
    "checkpoint": ("tests/arena/test_checkpoint.py",),
    "external_bots": ("tests/arena/test_external.py",),
    "rule": ("tests/agents/test_rule_bot.py", "tests/agents/test_bots.py"),
    "linear": ("tests/agents/linear",),
    "residual": ("tests/agents/residual",),
    "ensemble": ("tests/agents/test_ensemble.py",),
    "bert": (
        "tests/agents/bert/test_encoding.py", "tests/agents/bert/test_labels.py",
        "tests/agents/bert/test_sources.py", "tests/agents/bert/test_symmetries.py", "tests/agents/bert/test_bot.py",
    ),
    "search": ("tests/agents/search",),
    "playouts": ("tests/agents/playouts",),
    "rl": ("tests/agents/rl/test_ppo.py",),
    "envs": ("tests/envs",),
    "page_reducer": ("tests/web/test_reducer.py",),
    "page_hands": ("tests/web/test_legal.py", "tests/web/test_waits.py", "tests/web/test_result.py"),
    "page_table": ("tests/web/test_table.py",),
    "page_words": ("tests/web/test_words.py", "tests/web/test_repeated_tables.py"),
    "command_line": (
        "tests/test_help.py", "tests/engine/test_options.py", "tests/engine/test_program.py", "tests/test_refusals.py",
    ),
    "workers": ("tests/engine/test_workers.py", "tests/engine/test_pools.py"),
    "files": ("tests/engine/test_files.py",),
    "cluster": ("tests/engine/test_pools.py",),
}  # fmt: skip

# Suites in which compiling what a fault changes takes longer than the tests do as plain Python (NUMBA_DISABLE_JIT).
PLAIN = frozenset({"rules", "scoring_examples"})
