"""The names of SageMaker's distributed library, for containers that smlocal runs.

The library itself comes first: its modules in the image are used, and only missing ones come from here. This package
must not import anything of smlocal, and runs on the Python of the image.
"""

import os
import sys

if sys.version_info < (3, 8):
    raise ImportError(
        "smlocal's stand-in for smdistributed needs Python 3.8 or newer, and this image runs Python %d.%d"
        % sys.version_info[:2]
    )

_HERE = os.path.dirname(os.path.abspath(__file__))


def _installed() -> "list[str]":
    """The folders of this package that the image has."""
    folders = [os.path.join(entry or os.curdir, "smdistributed") for entry in sys.path]
    return [each for each in dict.fromkeys(folders) if os.path.isdir(each) and not os.path.samefile(each, _HERE)]


_FOLDERS = _installed()
__path__ = [*_FOLDERS, _HERE]
for _folder in _FOLDERS:
    _start = os.path.join(_folder, "__init__.py")
    if os.path.isfile(_start):
        with open(_start, "rb") as _file:
            exec(compile(_file.read(), _start, "exec"))  # noqa: S102 - what an import of the image's package would run
for _folder in _FOLDERS:
    if os.path.isfile(os.path.join(_folder, "dataparallel", "__init__.py")):
        from .smlocal_records import record_library_of_the_image

        record_library_of_the_image(os.path.join(_folder, "dataparallel"))
        break
