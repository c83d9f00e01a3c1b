"""What AWS says to a caller whose clock is wrong, and what helps."""

_SAID = ("RequestTimeTooSkewed", "Signature expired", "Signature not yet current")
CLOCK_REMEDY = "Set the clock of this machine, for example: sudo timedatectl set-ntp true"


def is_wrong_clock(answer: str) -> bool:
    """True for an error of S3, STS, ECR, … that no new credentials would cure."""
    return any(words in answer for words in _SAID)
