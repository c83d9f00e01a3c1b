"""Members that the discovery documents call required, and why a request may leave them out."""

from typing import Final

OPTIONAL_HERE: Final = {
    "Job.jobId": "The name of the file and the time are the default.",
    "CustomJob.displayName": "The name of the file and the time are the default.",
    "TrainingInput.region": "Jobs run on this machine.",
}
"""Required with `strict`, as on the service."""

OPTIONAL_THERE: Final = {
    "TrainingInput.packageUris": "Jobs with an image of their own have none.",
    "TrainingInput.pythonModule": "Jobs with an image of their own have none.",
    "TrainingInput.scaleTier": "The first value of the enumeration, BASIC, is meant when it is left out.",
}
"""Optional on the service too."""
