"""Bots and what connects them to games. Imports `engine` only.

* `agents.base`: the interface of a bot (`Agent`), and what a bot may offer besides (`ActionValues`, `Annotating`);
* `agents.registry`: from a name such as ``rule`` or ``bert:DIR`` to a bot;
* `agents.bots`: the built-in bots without a network; `agents.compiled`: helpers for compiled bots;
* `agents.bert`: the bot that is a neural network, and its training;
* `agents.external`: bots that are programs or connections and speak mjai, and the adapters between them and agents;
* `agents.client`: ``python -m agents.client``, which plays any of them at a mjai server.

To write a bot of your own, start with docs/bots.md.
"""
