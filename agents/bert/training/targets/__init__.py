"""Target sources: they choose which decisions become samples, and compute their targets.

All implement `protocol.TargetSource`: `label(Decisions) -> Targets`.

================  ====================================================================================================
`protocol`        `Decisions`, `Targets` and the protocol `TargetSource`
`played`          the action that was played
`teacher`         the action values of another bot, or its choice if it has none
`rollouts`        mean results of rollouts: the round is played out many times after each candidate action
`hard_examples`   the teacher's action values, only for decisions in which the bot probably errs
================  ====================================================================================================
"""
