"""The file of `smlocal tensors --export`, written completely or not at all."""

import os
from collections.abc import Sequence

from smlocal.base.files import replacement
from smlocal.errors import OutputUnusableError
from smlocal.tensors.saved_tensors import SavedTensor, whole_values
from smlocal.tensors.tensor import write_npz
from smlocal.tensors.tensor_files import Damage


def export_tensors(path: str, folder: str, tensors: Sequence[SavedTensor], damaged: list[Damage]) -> int:
    """Write each tensor as `NAME@STEP`, or `NAME@STEP@WORKER` if several workers have saved tensors.

    Returns how many were written.
    """
    path = os.path.realpath(path)
    if os.path.lexists(path) and not os.path.isfile(path):
        raise OutputUnusableError(f"{path} cannot be written: it is not a file", remedy=["Name a new file."])
    several = len({each.worker for each in tensors}) > 1
    try:
        with replacement(path) as file:
            count = write_npz(
                file,
                (
                    (f"{saved.name}@{saved.step}{f'@{saved.worker}' if several else ''}", value)
                    for saved, value in whole_values(folder, tensors, damaged)
                ),
            )
    except OSError as error:
        raise OutputUnusableError(f"{path} cannot be written: {error.strerror or error}") from error
    return count
