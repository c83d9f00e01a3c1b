import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.kit import until

from smlocal.engine.docker import DockerEngine
from smlocal.engine.interface import JOB_LABEL, ContainerSpec, Mount, Resource, ResourceKind
from smlocal.errors import EngineError, EngineNameInUseError
from smlocal.terms.gpus import GpuDevices

Run = Callable[..., tuple[int, bytes]]
Spec = Callable[..., ContainerSpec]


def test_facts_name_the_engine(engine: DockerEngine) -> None:
    facts = engine.facts()
    assert facts.local
    assert facts.address.startswith("unix://")
    assert facts.version[0].isdigit()
    assert facts.architecture in {"amd64", "arm64"}
    assert facts.operating_system == "linux"


@pytest.mark.parametrize("code", [0, 1, 42, 255])
def test_exit_code(run: Run, code: int) -> None:
    assert run(f"exit {code}")[0] == code


def test_a_signal_becomes_128_and_its_number(run: Run) -> None:
    assert run("kill -9 $$; sh -c 'kill -6 $$'; exit $?") == (134, b"Aborted\n")


def test_environment_hostname_and_extra_hosts(run: Run) -> None:
    script = 'echo "[$A][$EMPTY]"; hostname; grep peer /etc/hosts'
    environment = {"A": "b=c d\n'\"é", "EMPTY": ""}
    code, written = run(script, environment=environment, extra_hosts={"peer": "192.0.2.7"})
    assert code == 0
    assert written.decode() == "[b=c d\n'\"é][]\nalgo-1\n192.0.2.7\tpeer\n"


def test_no_terminal_no_input_no_init(run: Run) -> None:
    script = 'test -t 1 || echo no terminal; cat; echo pid $$; cat /proc/1/comm; test "$(ls /proc/self/fd | wc -l)" = 4'
    assert run(script) == (0, b"no terminal\npid 1\nsh\n")


@pytest.mark.slow(2)
def test_the_four_ways_to_say_what_runs(import_image: Callable[..., str], run: Run) -> None:
    image = import_image("smlocal-test-engine:words", 'ENTRYPOINT ["/bin/echo","image"]', 'CMD ["its command"]')
    assert run(image=image, entrypoint=None, command=None) == (0, b"image its command\n")
    assert run(image=image, entrypoint=None, command=("train",)) == (0, b"image train\n")
    assert run(image=image, entrypoint=("/bin/echo", "own"), command=None) == (0, b"own\n")
    assert run(image=image, entrypoint=("/bin/echo", "own"), command=("a", "b")) == (0, b"own a b\n")


def test_an_image_is_described_by_its_configuration(load_image: Callable[..., str], engine: DockerEngine) -> None:
    name = load_image(
        "amd64",
        Entrypoint=["/bin/sh", "-c", "exec serve"],
        Cmd=["x"],
        Env=["A=b=c", "EMPTY="],
        User="1000:1000",
        WorkingDir="/srv",
        StopSignal="SIGINT",
    )
    facts = engine.image(name)
    assert facts is not None
    assert facts.id.startswith("sha256:")
    assert facts.architecture == "amd64"
    assert facts.operating_system == "linux"
    assert facts.size > 0
    assert facts.entrypoint == ("/bin/sh", "-c", "exec serve")
    assert facts.command == ("x",)
    assert facts.user == "1000:1000"
    assert facts.working_directory == "/srv"
    assert facts.stop_signal == "SIGINT"
    assert facts.environment["A"] == "b=c"
    assert facts.environment["EMPTY"] == ""
    assert engine.image(facts.id) == facts


def test_an_image_for_another_machine_says_so(load_image: Callable[..., str], engine: DockerEngine) -> None:
    other = "arm64" if engine.facts().architecture == "amd64" else "amd64"
    facts = engine.image(load_image(other))
    assert facts is not None
    assert facts.architecture == other
    assert (facts.entrypoint, facts.command, facts.user, facts.stop_signal) == (None, None, "", None)


def test_an_image_that_is_not_here(engine: DockerEngine, spec: Spec) -> None:
    assert engine.image("smlocal-test-engine:never-made") is None
    with pytest.raises(EngineError, match="No such image") as caught:
        engine.create(spec(image="smlocal-test-engine:never-made"))
    assert caught.value.status == 404


def test_an_image_name_that_cannot_be_one(engine: DockerEngine) -> None:
    with pytest.raises(EngineError, match="invalid reference format"):
        engine.image("Not An Image?x=1#y")


@pytest.mark.parametrize(
    ("entrypoint", "words"),
    [
        (("train",), 'exec: "train": executable file not found in $PATH'),
        (("/etc",), "permission denied|is a directory"),
    ],
)
def test_a_container_that_cannot_start(
    engine: DockerEngine, spec: Spec, entrypoint: tuple[str, ...], words: str
) -> None:
    container = engine.create(spec(entrypoint=entrypoint, command=None))
    with pytest.raises(EngineError, match=words.replace("$", r"\$")) as caught:
        engine.start(container)
    assert caught.value.status == 400
    assert engine.state(container).status == "created"


def test_state_before_during_and_after(engine: DockerEngine, spec: Spec) -> None:
    container = engine.create(spec("trap 'exit 9' TERM; echo ready; while :; do sleep 0.05; done"))
    assert engine.state(container).status == "created"
    output = iter(engine.attach(container))
    engine.start(container)
    assert next(output).lines == b"ready\n"
    during = engine.state(container)
    assert (during.status, during.oom_killed) == ("running", False)
    engine.signal(container, "SIGTERM")
    assert engine.wait(container) == 9
    assert list(output) == []
    after = engine.state(container)
    assert (after.status, after.exit_code, after.error) == ("exited", 9, "")
    assert during.started_at == after.started_at < after.finished_at


def test_sigkill_is_137(engine: DockerEngine, spec: Spec) -> None:
    container = engine.create(spec("exec sleep 600"))
    engine.start(container)
    engine.signal(container, "SIGKILL")
    assert engine.wait(container) == 137


def test_signals_to_what_has_ended_or_is_gone_are_fine(engine: DockerEngine, spec: Spec) -> None:
    container = engine.create(spec())
    engine.signal(container, "SIGTERM")  # not started
    engine.start(container)
    engine.start(container)  # started already, or ended: fine or run again
    engine.wait(container)
    engine.signal(container, "SIGTERM")
    engine.remove(Resource(kind=ResourceKind.CONTAINER, id=container))
    engine.signal(container, "SIGTERM")


def test_a_wait_may_begin_before_the_start(engine: DockerEngine, spec: Spec) -> None:
    container = engine.create(spec("exit 5"))
    codes: list[int] = []
    waiter = threading.Thread(target=lambda: codes.append(engine.wait(container)))
    waiter.start()
    waiter.join(0.2)  # passes: the container has not ended
    assert waiter.is_alive()
    engine.start(container)
    waiter.join()
    assert codes == [5]
    assert engine.wait(container) == 5


def test_a_wait_for_what_is_removed_unstarted_ends(engine: DockerEngine, spec: Spec) -> None:
    container = engine.create(spec())
    ends: list[object] = []

    def wait() -> None:
        try:
            ends.append(engine.wait(container))
        except EngineError as error:
            ends.append(error)

    waiter = threading.Thread(target=wait)
    waiter.start()
    waiter.join(0.2)  # passes: the container has not ended
    engine.remove(Resource(kind=ResourceKind.CONTAINER, id=container))
    waiter.join()
    assert len(ends) == 1


def test_waiting_for_what_is_not_there(engine: DockerEngine) -> None:
    with pytest.raises(EngineError, match="No such container") as caught:
        engine.wait("smlocal-never-made")
    assert caught.value.status == 404


def test_a_volume_below_a_bind_mount(engine: DockerEngine, run: Run, job: str, tmp_path: Path) -> None:
    (tmp_path / "input" / "data" / "train").mkdir(parents=True)
    (tmp_path / "input" / "config.json").write_text("{}")
    (tmp_path / "odd, name:x").mkdir()
    engine.create_volume(f"{job}-v", {JOB_LABEL: job}, {})
    mounts = (
        Mount(source=f"{job}-v", target="/opt/ml/input/data/train", volume=True),
        Mount(source=str(tmp_path / "odd, name:x"), target="/opt/ml/model"),
        Mount(source=str(tmp_path / "input"), target="/opt/ml/input", read_only=True),
    )
    script = """
        cat /opt/ml/input/config.json
        echo volume > /opt/ml/input/data/train/file && cat /opt/ml/input/data/train/file
        echo model > /opt/ml/model/m
        touch /opt/ml/input/new 2>/dev/null || echo read-only
    """
    code, written = run(script, mounts=mounts)
    assert code == 0
    assert b"{}volume\n" in written
    assert b"read-only\n" in written
    assert (tmp_path / "odd, name:x" / "m").read_text() == "model\n"
    assert list((tmp_path / "input" / "data" / "train").iterdir()) == []


def test_a_fresh_volume_is_not_filled_from_the_image(engine: DockerEngine, run: Run, job: str) -> None:
    engine.create_volume(f"{job}-v", {JOB_LABEL: job}, {})
    mounts = (Mount(source=f"{job}-v", target="/etc", volume=True),)
    assert run("ls -A /etc | grep -v -e hosts -e hostname -e resolv.conf -e mtab; true", mounts=mounts) == (0, b"")


def test_a_bind_mount_of_nothing_is_refused(engine: DockerEngine, spec: Spec, tmp_path: Path) -> None:
    with pytest.raises(EngineError, match="bind source path does not exist"):
        engine.create(spec(mounts=(Mount(source=str(tmp_path / "gone"), target="/x"),)))
    assert not (tmp_path / "gone").exists()


def test_a_name_in_use(engine: DockerEngine, spec: Spec, job: str) -> None:
    engine.create(spec(name=f"{job}-twice"))
    with pytest.raises(EngineNameInUseError, match="already in use"):
        engine.create(spec(name=f"{job}-twice"))


def test_an_engine_without_gpus_says_so(engine: DockerEngine, image: str, job: str) -> None:
    trouble = engine.probe(image, {JOB_LABEL: job}, devices=GpuDevices(ids=("0",)))
    if Path("/dev/nvidia0").exists():
        pytest.skip("this machine has a GPU")
    assert trouble is not None
    assert "could not select device driver" in trouble
    assert engine.owned(job) == []


def test_a_probe_that_asks_for_nothing_finds_nothing_wrong(engine: DockerEngine, image: str, job: str) -> None:
    # The same path as on an engine that gives everything: only the program that cannot exist fails.
    assert engine.probe(image, {JOB_LABEL: job}) is None
    assert engine.owned(job) == []


def test_a_device_of_the_machine_and_one_that_is_not_there(engine: DockerEngine, image: str, job: str) -> None:
    assert engine.probe(image, {JOB_LABEL: job}, device_files=("/dev/null",)) is None
    trouble = engine.probe(image, {JOB_LABEL: job}, device_files=("/dev/smlocal-absent",))
    assert trouble is not None
    assert "/dev/smlocal-absent" in trouble
    assert engine.owned(job) == []


def test_processes_and_their_handlers(engine: DockerEngine, spec: Spec) -> None:
    container = engine.create(spec("trap 'exit 3' TERM; sleep 600 & wait"))
    with pytest.raises(EngineError):
        engine.processes(container)
    engine.start(container)
    until(lambda: len(engine.processes(container)) == 2)
    first, second = engine.processes(container)
    assert (first.name, second.name) == ("sh", "sleep")
    assert first.caught & 1 << 14
    assert not second.caught & 1 << 14
    engine.signal(container, "SIGTERM")
    assert engine.wait(container) == 3
    with pytest.raises(EngineError):
        engine.processes(container)


def test_changes_of_a_container(engine: DockerEngine, spec: Spec) -> None:
    container = engine.create(spec("echo 1 >/written; touch /etc/touched; rm /bin/yes"))
    engine.start(container)
    engine.wait(container)
    assert {"/written", "/etc/touched", "/bin/yes"} <= set(engine.changes(container))
    assert set(engine.changes(container, soon=True)) == set(engine.changes(container))


@pytest.mark.parametrize(("script", "size"), [("echo 1 >/written; rm /bin/yes", 2), ("true", 0)])
def test_bytes_that_a_container_wrote(engine: DockerEngine, spec: Spec, script: str, size: int) -> None:
    container = engine.create(spec(script))
    engine.start(container)
    engine.wait(container)
    assert engine.written_bytes(container) == size
