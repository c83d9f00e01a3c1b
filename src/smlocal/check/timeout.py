"""How long a job of a check may take."""

DEFAULT_TIMEOUT = 60
"""Seconds of training."""
LONGEST_TIMEOUT = 86_400
