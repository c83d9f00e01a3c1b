"""Where the models are, on purpose, laxer than the service: each with its reason, and nothing else may differ."""

from typing import Final

OPTIONAL_HERE: Final = {
    "CreateTrainingJobRequest.TrainingJobName": "the default is the file name and the time",
    "CreateTrainingJobRequest.RoleArn": "no role is assumed on this machine",
}
"""Members the service requires and a local job may leave out; `--strict` requires them again."""

PATHS_HERE: Final = {
    "S3Uri": "data on this machine is given by its path or a file:// URI",
}
"""Shapes whose pattern a local path need not match; `--strict` holds them to it again."""

WORDS_HERE: Final = {
    "TrainingInstanceType": ("local", "local_gpu"),
}
"""Enumerations with words that stand for this machine, as in the SDK's local mode; `--strict` refuses them."""
