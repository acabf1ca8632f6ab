"""The optimum enclosed, where its states do not fit: a policy, and a bound that no policy can beat.

`anytime` starts from quick policies and searches until the time is over: by `trials` over states
that are packed into words (`packing`), and by `ao_star` what these do not support. The room
`bounds` has the lower bounds.
"""
