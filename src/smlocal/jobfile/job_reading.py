"""How documents of one kind of job are read: what a kind says about them, and what all kinds have in common."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, Protocol

from smlocal.jobfile.document import Document
from smlocal.jobfile.option import LOCAL, Option
from smlocal.jobfile.settings import LocalSettings
from smlocal.terms.made_names import without_time
from smlocal.terms.validation.violation import Path

SetData = Callable[[Document, str, str, Callable[[str], str]], None]
"""Applies an option for data to the document: for a name, with a text, and what makes paths absolute."""


class AskedJob(Protocol):
    """What was asked for: a valid job of any kind."""

    @property
    def local(self) -> LocalSettings:
        """The settings for this machine."""
        ...

    @property
    def document(self) -> Document:
        """Where it was read."""
        ...


class JobReading(ABC):
    """Reads the documents of one kind. The defaults are those of a kind whose request only its file has."""

    NAME: ClassVar[str]
    """The member with the name."""
    REFUSED: ClassVar[Mapping[str, str]] = {}
    """The settings of `Local` that such a job has no use for, and why."""
    PLACES: ClassVar[Mapping[str, Path]] = {"members": ()}
    """Where its request has what an option says, by the keyword. Settings of `Local` have their place in the table."""
    DATA: ClassVar[Mapping[str, SetData]] = {}
    """Options for data that are more than a value at a place, by the keyword."""
    OUTPUT: ClassVar[Path] = ()
    """The location of its output, if a folder of this machine may be there."""
    IMAGE: ClassVar[Path] = ()
    """The image, if there is one for all of its containers."""
    USUAL_STEM: ClassVar[str] = "job"
    """The beginning of the name of a job that neither a file nor an image names."""

    @abstractmethod
    def read(self, document: Document, *, strict: bool, local_allowed: bool = True) -> AskedJob:
        """Validate a document. `strict` requires what the service requires. One error lists all mistakes."""

    @abstractmethod
    def read_named(
        self, document: Document, *, name: str | None, stem: str, strict: bool, local_allowed: bool = True
    ) -> tuple[AskedJob, str]:
        """The validated job, and its name; `stem` is that of its file."""

    def stem_of(self, name: str) -> str:
        """What remains of a name that was made of a stem and a time."""
        return without_time(name)

    def begin_again(self, document: Document, recorded: Mapping[str, Any], name: str) -> str:
        """Make the recorded document of a job of this name that of another run; returns the stem of the new name."""
        del recorded
        document.data.pop(self.NAME, None)
        return self.stem_of(name)

    def place(self, option: Option) -> Path | None:
        """Where an option is in its documents; None if it has no use for it."""
        if option.place[:1] == (LOCAL,):
            return None if option.place[1] in self.REFUSED else option.place
        return self.PLACES.get(option.keyword)

    def image_in(self, data: Mapping[str, Any]) -> str | None:
        """The image in a document, which need not be valid."""
        found: Any = data if self.IMAGE else None
        for step in self.IMAGE:
            found = found.get(step) if isinstance(found, Mapping) else None
        return found if isinstance(found, str) else None

    def instead(self, data: Mapping[str, Any], refused: Sequence[tuple[Option, str]]) -> list[str]:
        """What a person can do in place of options that it has no use for, which come with how they were spelled."""
        del data, refused
        return ["Leave it out, or change the job file."]
