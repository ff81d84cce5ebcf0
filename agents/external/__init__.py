"""Bots that speak mjai: programs started here, bots that connect to us, and the adapters to and from agents.

* `mjai_bot`: the interface `MjaiBot` (messages in, a reply out) and the reading of replies: start there;
* `adapters`: `AgentBot`, an agent as a mjai bot; `external_agent`: `ExternalAgent`, a mjai bot as an agent;
* `fallback`: the agent that plays on where a bot has failed;
* `framing`, `subprocess_bot`, `process`, `watchdog`: a bot that is a program, spoken to over its stdin and stdout;
* `listener`: a bot that connects to us over TCP;
* `stderr`: how the stderr of a program is reported; `traffic`: the logs of what bots receive and send;
* `specs`: from a bot spec (``rule``, ``exec:COMMAND``, ``mjsonp://...``) to a bot.
"""
