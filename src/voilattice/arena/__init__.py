"""The arena: every method on the same new cases."""
