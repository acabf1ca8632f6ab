"""Settings of the whole suite."""

from hypothesis import settings

# Seeded, so that a failure is the same everywhere; without deadlines, because machines are noisy.
settings.register_profile("voilattice", deadline=None, derandomize=True)
settings.load_profile("voilattice")
