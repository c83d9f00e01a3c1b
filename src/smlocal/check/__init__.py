"""Checks of a training image: rules, the data that they look at, and their findings."""

DEFAULT_TIMEOUT = 60
"""Seconds of training of a job of a check."""
LONGEST_TIMEOUT = 86_400
