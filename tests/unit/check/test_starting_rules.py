"""Rules about the program that the service starts, on images in memory."""

import struct
import time

import pytest
from tests.unit.check.images import LINK, SCRIPT, file, layer, messages, program, read, subject

from smlocal.check.cannot_look import CannotLookError
from smlocal.check.program_files import Binary, child_without_exec, executed, hands_over, read_program, script_argument
from smlocal.check.starting import UnknownUserError, programs, user_of

SHELL = program("bin/sh", b"\x7fELF")
PASSWD = file("etc/passwd", b"root:x:0:0:root:/root:/bin/sh\napp:x:1000:1000::/:\n")
STARTING = ("train-missing", "train-not-executable", "train-line-endings", "train-interpreter", "train-format")


def binary(machine: int = 62, loader: bytes = b"/lib64/ld-linux-x86-64.so.2") -> bytes:
    """As much of a binary of 64 bits as the kernel looks at."""
    header = b"\x7fELF\x02\x01\x01" + bytes(9)
    header += struct.pack("<HHIQQQIHHHHHH", 2, machine, 1, 0, 64, 0, 0, 64, 56, 1, 0, 0, 0)
    return header + struct.pack("<IIQQQQQQ", 3, 4, 120, 120, 120, len(loader) + 1, len(loader) + 1, 1) + loader + b"\0"


def test_a_healthy_image_breaks_none_of_them() -> None:
    for healthy in (
        subject(layer(SHELL, program("usr/local/bin/train"))),
        subject(
            layer(program("opt/p/train", binary()), file("lib64/ld-linux-x86-64.so.2")), environment={"PATH": "/opt/p"}
        ),
        subject(layer(SHELL, program("run"), file("go", kind=LINK, link="run")), entrypoint=["/go", "x"]),
        subject(layer(SHELL, program("opt/run")), entrypoint=["./run"], working_directory="/opt"),
        subject(
            layer(SHELL, program("usr/bin/tini", binary(loader=b"")), program("usr/bin/train")),
            entrypoint=["tini", "-g", "--"],
        ),
    ):
        assert [messages(rule, healthy) for rule in STARTING] == [[]] * len(STARTING)


def test_only_the_path_of_the_image_counts() -> None:
    image = subject(layer(program("opt/p/train"), program("train")), environment={"PATH": "/usr/bin:/bin"})
    (said,) = messages("train-missing", image)
    assert said.endswith('exec: "train": executable file not found in $PATH')


def test_what_cannot_be_started_on_the_path_is_passed_over() -> None:
    later = subject(layer(SHELL, file("usr/local/bin/train", SCRIPT), program("usr/bin/train")))
    assert messages("train-not-executable", later) == []
    folder = subject(layer(file("usr/bin/train/x")))
    assert len(messages("train-missing", folder)) == 1
    dangling = subject(layer(file("usr/bin/train", kind=LINK, link="/opt/gone")))
    assert len(messages("train-missing", dangling)) == 1


def test_an_entry_point_that_is_not_there_or_may_not_be_executed() -> None:
    (said,) = messages("train-missing", subject(layer(SHELL), entrypoint=["/entry.sh"]))
    assert said == 'the image has no /entry.sh: exec: "/entry.sh": stat /entry.sh: no such file or directory'
    image = subject(layer(SHELL, file("entry.sh", SCRIPT)), entrypoint=["/entry.sh"])
    assert messages("train-not-executable", image) == [
        '/entry.sh is not executable (mode 0644): exec: "/entry.sh": permission denied'
    ]
    own = subject(layer(PASSWD, SHELL, file("entry.sh", SCRIPT, mode=0o700)), entrypoint=["/entry.sh"], user="app")
    (said,) = messages("train-not-executable", own)
    assert "not executable by USER app (mode 0700)" in said
    image = subject(layer(PASSWD, SHELL, file("e.sh", SCRIPT, mode=0o750, gid=1000)), entrypoint=["/e.sh"], user="app")
    assert messages("train-not-executable", image) == []


def test_an_init_program_starts_what_follows_it() -> None:
    tini = program("sbin/tini", binary(loader=b""))
    assert [
        each.word for each in programs(subject(layer(tini), entrypoint=["/sbin/tini", "-s", "-p", "TERM", "--"]))
    ] == [*("/sbin/tini", "train")]
    (said,) = messages("train-missing", subject(layer(tini), entrypoint=["/sbin/tini", "--"]))
    assert said == (
        "tini runs its arguments, and the image has no train on its PATH: "
        "[FATAL tini (7)] exec train failed: No such file or directory"
    )
    broken = subject(layer(tini, file("usr/bin/train", SCRIPT)), entrypoint=["/sbin/tini", "--"])
    assert "[FATAL tini (7)] exec train failed: Permission denied" in messages("train-not-executable", broken)[0]


def test_a_wrapper_that_execs_its_arguments_needs_a_train() -> None:
    wrapper = program("opt/nvidia/entrypoint.sh", b'#!/bin/sh\necho banner\nexec "$@"\n')
    (said,) = messages("train-missing", subject(layer(SHELL, wrapper), entrypoint=["/opt/nvidia/entrypoint.sh"]))
    assert said == "entrypoint.sh runs its arguments, and the image has no train on its PATH: exec: train: not found"
    there = layer(SHELL, wrapper, program("usr/bin/train"))
    assert messages("train-missing", subject(there, entrypoint=["/opt/nvidia/entrypoint.sh"])) == []
    given = subject(layer(SHELL, wrapper), entrypoint=["/opt/nvidia/entrypoint.sh", "sh", "-x"])
    assert messages("train-missing", given) == []


def test_an_image_that_is_made_for_the_toolkit_and_lacks_it() -> None:
    (said,) = messages("train-missing", subject(environment={"SAGEMAKER_PROGRAM": "train.py", "PATH": "/bin"}))
    assert said.endswith("(ENV SAGEMAKER_PROGRAM is for the training toolkit, which is not installed)")
    kit = layer(file("opt/lib/python3.9/site-packages/sagemaker_training/__init__.py"))
    (said,) = messages("train-missing", subject(kit, environment={"SAGEMAKER_PROGRAM": "train.py"}))
    assert "toolkit" not in said


def test_a_script_that_a_shell_is_given() -> None:
    image = layer(program("bin/bash", binary(loader=b"")), file("usr/local/bin/start.sh", b"python t.py\n"))
    (said,) = messages("entrypoint-without-exec", subject(image, entrypoint=["bash", "-m", "start.sh"]))
    assert said.startswith("/usr/local/bin/start.sh starts 'python t.py' without exec")
    healthy = layer(program("bin/bash", binary(loader=b"")), file("start.sh", b"exec python t.py\n"))
    assert messages("entrypoint-without-exec", subject(healthy, entrypoint=["/bin/bash", "/start.sh"])) == []
    assert messages("entrypoint-without-exec", subject(healthy, entrypoint=["/bin/bash"])) == []


@pytest.mark.parametrize(
    ("first", "said"),
    [
        ("#!/bin/bash", "the interpreter /bin/bash"),
        ("#!/usr/bin/env python3", "the interpreter /usr/bin/env"),
        ("#!", "names no interpreter"),
        ("#!sh", "the interpreter sh"),
    ],
)
def test_interpreters_that_are_missing(first: str, said: str) -> None:
    (message,) = messages("train-interpreter", subject(layer(SHELL, program("usr/bin/train", f"{first}\n".encode()))))
    assert said in message


def test_what_env_is_to_find() -> None:
    image = layer(
        program("usr/bin/env", binary(loader=b"")), program("usr/bin/train", b"#!/usr/bin/env -S VAR=1 python3 -u\n")
    )
    (message,) = messages("train-interpreter", subject(image))
    assert message == "python3, which runs /usr/bin/train, is missing: env: python3: No such file or directory"
    there = layer(program("usr/bin/python3.11"), file("usr/bin/python3", kind=LINK, link="python3.11"))
    assert messages("train-interpreter", subject(image, there)) == []


def test_binaries() -> None:
    (message,) = messages("train-interpreter", subject(layer(program("bin/train", binary()))))
    assert message.startswith("the loader /lib64/ld-linux-x86-64.so.2 of /bin/train is missing")
    (message,) = messages("train-format", subject(layer(program("bin/train", binary(183)))))
    assert message.startswith("/bin/train is built for arm64, the image for amd64")
    assert messages("train-format", subject(layer(program("bin/train", b"")))) != []
    assert read_program(b"\x7fELF\x02\x01") == Binary(architecture="", loader="")
    assert read_program(binary()[:100]) == Binary(architecture="", loader="")
    narrow = b"\x7fELF\x01\x01\x01" + bytes(9) + struct.pack("<HHIIIIIHHHHHH", 2, 3, 1, 0, 52, 0, 0, 52, 32, 1, 0, 0, 0)
    narrow += struct.pack("<IIIIIIII", 3, 84, 84, 84, 7, 7, 4, 1) + b"/ld.so\0"
    assert read_program(narrow) == Binary(architecture="386", loader="/ld.so")


def test_who_the_user_is() -> None:
    groups = file("etc/group", b"root:x:0:\nstaff:x:50:app\n")
    known = layer(PASSWD, groups)
    assert user_of(subject(known)).is_root
    assert user_of(subject(known, user="0:0")).is_root
    app = user_of(subject(known, user="app"))
    assert app.uid == 1000
    assert app.groups == {1000, 50}
    assert user_of(subject(known, user="app:staff")).groups == {50}
    assert user_of(subject(known, user="1234")).uid == 1234
    with pytest.raises(UnknownUserError, match="USER nobody is not in /etc/passwd"):
        user_of(subject(known, user="nobody"))
    with pytest.raises(UnknownUserError, match="the group users"):
        user_of(subject(known, user="app:users"))
    assert messages("user-cannot-write", subject(known, user="ghost")) == [
        "USER ghost is not in /etc/passwd of the image, so no container starts"
    ]
    other_root = layer(file("etc/passwd", b"admin:x:0:0::/:\n"))
    assert messages("user-cannot-write", subject(other_root, user="admin")) == []


@pytest.mark.parametrize(
    ("text", "command"),
    [
        ("exec python t.py", None),
        ("python t.py", "python t.py"),
        ("set -e\npython t.py &\nwait $!", "python t.py"),
        ("trap 'kill $!' TERM\npython t.py & wait", None),
        ("trap cleanup SIGTERM INT\npython t.py & wait", None),
        ("trap cleanup EXIT\npython t.py", "python t.py"),
        ("exec >log 2>&1\npython t.py", "python t.py"),
        ("exec 3<>/dev/tty\npython t.py", "python t.py"),
        ("exec \\\n  python t.py", None),
        ("if [ x ]; then exec python t.py; fi", None),
        ("cd /opt && exec python t.py", None),
        ("cd /opt && python t.py", "python t.py"),
        ('"$@"', '"$@"'),
        ("echo hello\nmkdir -p /x\n# python t.py", None),
        ("A=1 B=2 python t.py", "python t.py"),
        ("case $1 in\n  train) python t.py;;\nesac", None),
        ("executable_thing", "executable_thing"),
        ("", None),
        ("name=$(sed -n 's/x/y/p' file)\necho $name", None),
        ('a=`date`\nb="$(python train.py)"', "python train.py"),
    ],
)
def test_wrappers(text: str, command: str | None) -> None:
    assert child_without_exec(f"#!/bin/sh\n{text}\n") == command


def test_a_script_of_python_is_no_wrapper() -> None:
    image = subject(layer(program("bin/train", b"#!/usr/bin/env python3\nimport os\nos.system('sleep 1')\n")))
    assert messages("entrypoint-without-exec", image) == []


def test_what_was_not_read_is_skipped() -> None:
    unread = read(layer(), layer()).files
    image = subject(layer(program("bin/train")))
    for damaged in (None, type(unread)(folders={}, contents={}, unread=("a layer of the image is damaged",))):
        from dataclasses import replace

        with pytest.raises(CannotLookError):
            messages("train-missing", replace(image, read=damaged))


@pytest.mark.parametrize(
    ("name", "arguments", "script"),
    [
        ("python3", ["train"], "train"),
        ("python3.11", ["-u", "-W", "ignore", "-Xdev", "train.py", "--epochs", "3"], "train.py"),
        ("python", ["-m", "trainer.start", "train"], None),
        ("python", ["-um", "trainer", "train"], None),
        ("python", ["-Wignore::mod", "-s", "--", "-odd.py"], "-odd.py"),
        ("python", ["-c", "print(1)", "train"], None),
        ("python", ["-"], None),
        ("bash", ["-m", "start.sh", "train"], "start.sh"),
        ("bash", ["-eo", "pipefail", "--rcfile", "x", "run.sh"], "run.sh"),
        ("sh", ["+x", "run.sh"], "run.sh"),
        ("bash", ["-lc", "train"], None),
        ("sh", ["-s", "train"], None),
        ("Rscript", ["--vanilla", "mars.R", "train"], "mars.R"),
        ("Rscript", ["-e", "q()"], None),
        ("python", [], None),
        ("tini", ["train"], None),
        ("pythonista", ["train"], None),
    ],
)
def test_which_argument_an_interpreter_takes_for_its_script(
    name: str, arguments: list[str], script: str | None
) -> None:
    assert script_argument(name, arguments) == script


def test_an_interpreter_without_a_script_of_its_own_runs_the_argument_of_the_service() -> None:
    interpreters = (program("usr/bin/python3", binary()), program("bin/bash", binary()), file("app/x"))
    (said,) = messages("entrypoint-script", subject(layer(*interpreters), entrypoint=["python3"]))
    assert said == (
        'python3 takes the argument "train" of the service for its script, and the image has no /train: '
        "can't open file '/train'"
    )
    (said,) = messages(
        "entrypoint-script", subject(layer(*interpreters), entrypoint=["/bin/bash"], working_directory="/app")
    )
    assert "the image has no /app/train" in said
    for there in (
        subject(layer(*interpreters, file("app/train")), entrypoint=["python3"], working_directory="/app"),
        subject(layer(*interpreters, program("usr/local/bin/train")), entrypoint=["bash"]),  # found on the PATH
        subject(layer(*interpreters, file("app/train.py")), entrypoint=["python3", "/app/train.py"]),
        subject(layer(*interpreters), entrypoint=["python3", "/opt/ml/input/data/code/train.py"]),
    ):
        assert messages("entrypoint-script", there) == []


def test_a_script_that_is_missing_is_named_with_what_is_in_its_way() -> None:
    python = program("usr/bin/python3", binary())
    (said,) = messages(
        "entrypoint-script",
        subject(layer(python, file("opt/ml/code")), entrypoint=["python3", "/opt/ml/code/train.py"]),
    )
    assert "no /opt/ml/code/train.py, which python3 is to run, because /opt/ml/code is a file" in said
    (said,) = messages("entrypoint-script", subject(layer(python), entrypoint=["python3", "/a" * 50_000]))
    assert "because" not in said
    (said,) = messages(
        "entrypoint-script",
        subject(layer(python, program("tini", binary())), entrypoint=["/tini", "--", "python3", "run.py"]),
    )
    assert said.startswith("the image has no /run.py, which python3 is to run: ")


@pytest.mark.parametrize(
    "script",
    [
        'if [ "$1" = train ]; then\n  exec python /opt/train.py\nfi\nexec "$@"\n',
        'case "$1" in\n  train) exec python /opt/train.py ;;\nesac\nexec "$@"\n',
        'shift\nexec "$@"\n',
        'set -- python /opt/train.py "$@"\nexec "$@"\n',
        'if true; then set -- python "$@"; fi\nexec "$@"\n',
    ],
)
def test_a_wrapper_that_knows_or_changes_its_arguments_is_not_taken_at_its_word(script: str) -> None:
    wrapper = program("entry.sh", f"#!/bin/sh\n{script}".encode())
    assert messages("train-missing", subject(layer(SHELL, wrapper), entrypoint=["/entry.sh"])) == []


@pytest.mark.parametrize(
    "script", ['exec "$@"\n', 'set -e\n# train or serve\nif [ $# -eq 0 ]; then\n  exec bash\nelse\n  exec "$@"\nfi\n']
)
def test_a_wrapper_that_hands_over_needs_a_train(script: str) -> None:
    wrapper = program("entry.sh", f"#!/bin/sh\n{script}".encode())
    (said,) = messages("train-missing", subject(layer(SHELL, wrapper), entrypoint=["/entry.sh"]))
    assert said.startswith("entry.sh runs its arguments, and the image has no train")


def test_of_several_programs_the_one_that_trains_is_named() -> None:
    text = "if [ $1 == train ]\nthen\n  gcc -o /lib.so /x.c\n  LD_PRELOAD=/lib.so xvfb-run train\nelse\n  serve\nfi\n"
    assert child_without_exec(text) == "xvfb-run train"
    assert child_without_exec("prepare\nserve\n") == "serve"


def test_a_script_that_a_wrapper_executes_with_its_arguments_is_looked_at() -> None:
    wrapper = program("entry.sh", b'#!/bin/bash\nif true; then\n  exec bash -m start.sh "$@"\nfi\nexec "$@"\n')
    start = program("usr/local/bin/start.sh", b'#!/bin/bash\nif [ "$1" = train ]; then\n  train\nfi\n')
    bash, train = program("bin/bash", binary()), program("usr/local/bin/train")
    (said,) = messages("entrypoint-without-exec", subject(layer(bash, wrapper, start, train), entrypoint=["/entry.sh"]))
    assert said.startswith("/usr/local/bin/start.sh starts 'train' without exec")
    assert messages("entrypoint-without-exec", subject(layer(bash, wrapper, train), entrypoint=["/entry.sh"])) == []


@pytest.mark.slow(0.5)
@pytest.mark.parametrize("text", ["\n" * 200_000, "trap " * 40_000, " " * 200_000, "exec a " + "- " * 100_000])
def test_no_script_takes_long_to_read(text: str) -> None:
    """Such texts took minutes: a search began again at each of their characters."""
    before = time.process_time()
    hands_over(text, ["train"])
    child_without_exec(text)
    executed(text)
    assert time.process_time() - before < 20


def test_an_image_alone_does_not_say_what_starts_its_jobs() -> None:
    with pytest.raises(CannotLookError, match="needs a job file"):
        messages("model-trainer-stop", subject(layer(SHELL)))
