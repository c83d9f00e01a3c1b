"""What a launcher needs in an image and does not find."""

from collections.abc import Iterator, Sequence

from smlocal.check.installed import packages
from smlocal.check.interface import Finding
from smlocal.check.starting import has_program
from smlocal.check.subject import Subject


def missing(
    subject: Subject, launcher: str, *, programs: Sequence[str | tuple[str, ...]] = (), modules: Sequence[str] = ()
) -> Iterator[Finding]:
    """A finding for each program and Python package; of several programs in brackets one is enough."""
    for each in programs:
        names = (each,) if isinstance(each, str) else each
        if not any(has_program(subject, name) for name in names):
            where = "" if names[0].startswith("/") else " on the PATH"
            yield Finding(
                message=f"the image has no {' or '.join(names)}{where}, which {launcher} starts",
                path=names[0] if names[0].startswith("/") else "",
            )
    for name in modules:
        if next(packages(subject.files, name), None) is None:
            yield Finding(message=f"the image has no Python package {name}, which {launcher} imports")
