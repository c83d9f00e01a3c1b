"""Whether what the other tests here stand on is what they think it is."""

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.jobs.hosts.swarm.conftest import MakeEngines
from tests.jobs.hosts.swarm.networked_engines import NetworkedEngines


@pytest.mark.slow(1)
def test_both_engines_are_in_one_swarm(swarm: NetworkedEngines) -> None:
    manager, worker = swarm.engines
    assert sorted(manager.docker("node", "ls", "--format", "{{.Status}} {{.ManagerStatus}}").splitlines()) == [
        "Ready ",
        "Ready Leader",
    ]
    assert worker.docker("info", "--format", "{{.Swarm.LocalNodeState}}").strip() == "active"


@pytest.mark.slow(1)
def test_a_hidden_folder_is_not_seen_and_everything_is_removed(
    make_engines: MakeEngines, image: Callable[[str], str], tmp_path: Path
) -> None:
    seen, hidden = tmp_path / "seen", tmp_path / "hidden"
    for folder in (seen, hidden):
        folder.mkdir()
        (folder / "file").write_text("here\n")
    engines = make_engines("alone", hidden=[hidden])
    (engine,) = engines.engines
    engine.load(tag := image("sh"))
    engine.docker("run", "--detach", "--name", "sleeps", "--entrypoint", "sleep", tag, "60")
    show = ("run", "--rm", "--entrypoint", "cat", "--mount")
    assert engine.docker(*show, f"type=bind,source={seen},target=/it", tag, "/it/file") == "here\n"
    with pytest.raises(subprocess.CalledProcessError) as refusal:
        engine.docker(*show, f"type=bind,source={hidden}/file,target=/it", tag, "/it")
    assert b"bind source path does not exist" in refusal.value.stderr
    (container,) = engine.docker("ps", "--quiet", "--no-trunc").split()
    engines.close()
    assert not engine.folder.exists()
    assert str(engine.folder) not in Path("/proc/mounts").read_text()
    assert not list(Path("/sys/fs/cgroup").glob(f"*/docker/{container}"))
    assert engines.id not in subprocess.run(["ip", "netns"], capture_output=True, check=True, text=True).stdout
