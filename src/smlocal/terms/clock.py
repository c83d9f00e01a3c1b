"""Errors of AWS about a wrong clock, and the remedy."""

_SAID = ("RequestTimeTooSkewed", "Signature expired", "Signature not yet current")
CLOCK_REMEDY = "Set the clock of this machine, for example: sudo timedatectl set-ntp true"


def is_wrong_clock(answer: str) -> bool:
    """True for an error of S3, STS, ECR, … that is about the clock, not the credentials."""
    return any(words in answer for words in _SAID)
