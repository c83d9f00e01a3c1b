"""What is wrong with a file of the debugger's library."""

from smlocal.quick_dataclass import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class Damage:
    """One place. The rest of the files is read."""

    file: str
    """Below the folder with the tensors."""
    offset: int
    """In bytes."""
    problem: str

    def __str__(self) -> str:
        return f"{self.file}, byte {self.offset:,}: {self.problem}"


class DamagedError(Exception):
    """A file is not what the library writes."""

    def __init__(self, offset: int, problem: str) -> None:
        """`problem` goes on after the name of the file."""
        super().__init__(problem)
        self.offset = offset
        self.problem = problem
