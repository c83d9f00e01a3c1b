"""The values of saved tensors."""

from collections.abc import Iterable, Iterator

from smlocal.tensors.damage import Damage, DamagedError
from smlocal.tensors.event import read_tensor
from smlocal.tensors.regular_file import mapped
from smlocal.tensors.saved_tensors import SavedTensor
from smlocal.tensors.tensor import Tensor


def whole_values(
    folder: str, wanted: Iterable[SavedTensor], damaged: list[Damage]
) -> Iterator[tuple[SavedTensor, Tensor]]:
    """Those that can be read. What is wrong with the others is added to `damaged`, once."""
    for saved, value in read_values(folder, wanted):
        if isinstance(value, Tensor):
            yield saved, value
        elif value not in damaged:
            damaged.append(value)


def read_values(folder: str, wanted: Iterable[SavedTensor]) -> Iterator[tuple[SavedTensor, Tensor | Damage]]:
    """The value of each, in the given order. A file is opened once if its tensors follow each other."""
    name, file = "", memoryview(b"")
    for each in wanted:
        try:
            if each.file != name:
                name, file = "", mapped(f"{folder}/{each.file}")
                name = each.file
            found, step, tensor = read_tensor(file, each.start, each.length)
            if (found, step) != (each.name, each.step):
                raise DamagedError(each.start, f"the index has {each.name} of step {each.step:,} here")  # noqa: TRY301 - as the others
        except DamagedError as error:
            yield each, Damage(file=each.file, offset=error.offset, problem=error.problem)
        else:
            yield each, tensor
