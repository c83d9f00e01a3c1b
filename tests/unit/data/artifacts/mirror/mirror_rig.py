"""A mirror of real folders, and the save at the end, as the supervisor uses them."""

import os
import shutil
import stat
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from smlocal.data.artifacts.mirror.mirror import Mirror, MirroredHost
from smlocal.data.artifacts.mirror.save import SaveReport, save
from smlocal.data.artifacts.mirror.target import FolderTarget, MirrorState, Target
from smlocal.data.artifacts.tree import walk
from smlocal.data.channels.download_channel import restore
from smlocal.data.sources.channel import list_checkpoints
from smlocal.terms.checkpoints import UPLOADING, Restored

Rigs = Callable[..., "Rig"]


class Rig:
    """Some hosts' folders and the folder that they are mirrored to."""

    def __init__(self, root: Path, hosts: int = 1, *, grows: bool = False) -> None:
        root.mkdir()
        self.root = root
        self.target = root / "target"
        self.names = [f"algo-{number}" for number in range(1, hosts + 1)]
        self.grows = grows
        self.given: dict[str, Restored] = {}
        self.mirror: Mirror | None = None
        self.notes: list[str] = []

    @property
    def state_path(self) -> str:
        return str(self.root / "staged" / "state")

    def host(self, number: int = 1) -> Path:
        return self.root / "hosts" / f"algo-{number}"

    def place(self) -> Target:
        """Where the files go."""
        return FolderTarget(path=str(self.target), run_id="0123abcd")

    def start(self) -> Path:
        """Restore, and mirror from now on."""
        listing = list_checkpoints(str(self.target), member="S3Uri", directory="/", mapping={})
        (self.root / "hosts").mkdir()
        self.given = {name: restore(listing, str(self.root / "hosts" / name)) for name in self.names}
        self.resume()
        return self.host()

    def resume(self) -> None:
        """Mirror from now on, as this supervisor or as the next."""
        self.mirror = Mirror(
            name="checkpoints",
            hosts=[
                MirroredHost(host=name, directory=self.given[name].directory, restored=self.given[name])
                for name in self.names
            ],
            target=self.place(),
            state_path=self.state_path,
            grows=self.grows,
        )
        self.mirror.start()

    def stop(self) -> None:
        """Mirror no more; what was noted is kept."""
        if self.mirror is not None:
            self.mirror.stop()
            self.notes += self.mirror.notes
            self.mirror = None

    def finish(self) -> SaveReport:
        """End the mirror, and save what is left."""
        self.stop()
        state = MirrorState.read(self.state_path)
        return save(
            [walk(name, self.given[name].directory) for name in self.names],
            self.place(),
            restored=[state.up_to_date(name, self.given[name]) for name in self.names],
            owners=state.owners,
        )

    def mirrored(self) -> dict[str, bytes]:
        """The view of others at the target: every file that has its final name."""
        return {path: content for path, content in files_in(self.target).items() if not path.endswith(UPLOADING)}

    def close(self) -> None:
        self.stop()
        shutil.rmtree(self.root, ignore_errors=True)


def mirrors(rig: Rig, **files: str) -> Callable[[], bool]:
    """Holds once exactly these files are at the target."""
    wanted = {name.replace("__", "/"): content.encode() for name, content in files.items()}
    return lambda: rig.mirrored() == wanted


def files_in(folder: Path) -> dict[str, bytes]:
    """All regular files below a folder, of which any may go at any time."""
    found = {}
    for above, _, names in os.walk(folder):
        for name in names:
            path = Path(above, name)
            with suppress(FileNotFoundError, NotADirectoryError):
                if stat.S_ISREG(path.lstat().st_mode):
                    found[str(path.relative_to(folder))] = path.read_bytes()
    return found
