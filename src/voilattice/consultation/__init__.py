"""One case, step by step: what to do now, what was paid, and why this and not that.

`standing` is where a case stands: what is known and spent. `advice` says what to do, with
`reasons`, and what is `ignored`. `first_steps` compares what can be done first (`continuations` are
how it goes on then, `steps` the results, `step_reasons` their words).
"""
