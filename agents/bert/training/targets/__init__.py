"""Target sources: they choose which decisions become samples, and compute their targets.

All implement `protocol.TargetSource`: `label(Decisions) -> Targets`.

================  ====================================================================================================
`protocol`        `Decisions`, `Targets` and the protocol `TargetSource`
`played`          the action that was played
`teacher`         the action values or probabilities of another bot, or its action if it has neither
`rollouts`        mean results of rollouts: the round is played out many times after each candidate action
`hard_examples`   those of the teacher, only for decisions in which the bot probably errs
================  ====================================================================================================
"""
