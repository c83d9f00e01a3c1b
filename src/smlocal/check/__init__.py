"""What is wrong with a training image: rules, what they look at, and what they find."""

DEFAULT_TIMEOUT = 60
"""Seconds of training of a job of a check."""
LONGEST_TIMEOUT = 86_400
