"""A fixture that the tests of BERT have too."""

from tests.agents.bert.conftest import one_thread

__all__ = ["one_thread"]
