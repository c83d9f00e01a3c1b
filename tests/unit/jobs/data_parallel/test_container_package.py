"""The package for containers, without PyTorch: its messages when it cannot work, and how it steps aside."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from smlocal.jobs.data_parallel.requested import SOURCE, make_records_folder, write_package
from smlocal.jobs.planning.aspects.data_parallel.plan import DataParallelPlan

WITHOUT_TORCH = "import sys; sys.modules['torch'] = None; "


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """The stand-in as containers have it, with the folder for records beside it."""
    write_package(DataParallelPlan(), str(tmp_path / "package"))
    make_records_folder(str(tmp_path / "records"))
    settings = tmp_path / "package" / "settings.json"
    settings.write_text(json.dumps({**json.loads(settings.read_text()), "Records": str(tmp_path / "records")}))
    return tmp_path / "package"


def python(package: Path, program: str, *before: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    folders = [*before, package / "python"]
    return subprocess.run(
        [sys.executable, "-c", program],
        env={"PATH": os.environ["PATH"], "PYTHONPATH": os.pathsep.join(map(str, folders)), **variables},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def last_line(result: subprocess.CompletedProcess[str]) -> str:
    assert result.returncode == 1, result.stdout
    return result.stderr.splitlines()[-1]


def test_an_image_without_torch(package: Path) -> None:
    result = python(package, WITHOUT_TORCH + "import smdistributed.dataparallel.torch.torch_smddp")
    assert last_line(result) == (
        "ModuleNotFoundError: smdistributed.dataparallel needs PyTorch, and this image has no package torch: "
        "install it in the image"
    )


def test_an_old_python(package: Path) -> None:
    result = python(package, "import sys; sys.version_info = (3, 6, 15); import smdistributed.dataparallel")
    assert last_line(result).endswith("needs Python 3.8 or newer, and this image runs Python 3.6")


@pytest.mark.parametrize("version", ["1.13.1", "0.4"])
def test_an_old_torch(package: Path, tmp_path: Path, version: str) -> None:
    (tmp_path / "old").mkdir()
    (tmp_path / "old" / "torch.py").write_text(f"__version__ = {version!r}\n")
    result = python(package, "import smdistributed.dataparallel.torch.distributed", tmp_path / "old")
    assert last_line(result).endswith(f"needs PyTorch 2.0 or newer, and this image has {version}")


def test_an_image_without_tensorflow(package: Path) -> None:
    without = "import sys; sys.modules['tensorflow'] = None; "
    result = python(package, without + "import smdistributed.dataparallel.tensorflow")
    assert last_line(result) == (
        "ModuleNotFoundError: smdistributed.dataparallel needs TensorFlow, and this image has no package tensorflow: "
        "install it in the image"
    )


@pytest.mark.parametrize("version", ["2.8.4", "1.15.0"])
def test_an_old_tensorflow(package: Path, tmp_path: Path, version: str) -> None:
    (tmp_path / "old").mkdir()
    (tmp_path / "old" / "tensorflow.py").write_text(f"__version__ = {version!r}\n")
    result = python(package, "import smdistributed.dataparallel.tensorflow", tmp_path / "old")
    assert last_line(result).endswith(f"needs TensorFlow 2.9 or newer, and this image has {version}")


def test_what_toolkits_look_for(package: Path) -> None:
    program = (
        "import importlib.util as u; from inspect import isclass\n"
        "from smdistributed.dataparallel import exceptions, __version__\n"
        "print(u.find_spec('smdistributed') is not None, __version__)\n"
        "print([name for name in dir(exceptions) if isclass(getattr(exceptions, name))])\n"
    )
    result = python(package, program)
    assert result.stdout.splitlines() == [
        "True 2.5.0+smlocal",
        "['SMDDPBufferError', 'SMDDPError', 'SMDDPUnsupportedError']",
    ]
    assert result.stderr == ""


def installed(tmp_path: Path, files: dict[str, str]) -> Path:
    """A folder of the image, with a library of this name."""
    for name, text in files.items():
        path = tmp_path / "image" / "smdistributed" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path / "image"


@pytest.mark.parametrize("order", ["first", "last"])
@pytest.mark.parametrize("regular", [True, False])
def test_the_library_of_the_image_is_used(package: Path, tmp_path: Path, order: str, regular: bool) -> None:
    files = {"dataparallel/__init__.py": "print('the real one')\n", "dataparallel/torch/__init__.py": ""}
    if regular:
        files["__init__.py"] = "name = 'real'\n"
    image = installed(tmp_path, files)
    program = f"import sys; sys.path.append({str(image)!r})\n" if order == "last" else ""
    program += "import smdistributed.dataparallel.torch\nprint(getattr(smdistributed, 'name', None))\n"
    result = python(package, program, *([image] if order == "first" else []))
    assert result.returncode == 0, result.stderr
    assert result.stdout.splitlines() == ["the real one", "real" if regular else "None"]
    if order == "last" or not regular:  # else nothing of ours is imported at all
        folder = image / "smdistributed" / "dataparallel"
        assert result.stderr == f"smlocal: the data parallel library of this image is used, from {folder}\n"
        assert json.loads((tmp_path / "records" / "library.json").read_text()) == {
            "Library": "image",
            "Folder": str(folder),
        }


def test_a_half_installed_library_fails_in_its_own_words(package: Path, tmp_path: Path) -> None:
    image = installed(tmp_path, {"dataparallel/__init__.py": "raise ImportError('libsmddpcpp.so: no such file')\n"})
    program = f"import sys; sys.path.append({str(image)!r})\nimport smdistributed.dataparallel.torch.torch_smddp"
    result = python(package, program)
    assert last_line(result) == "ImportError: libsmddpcpp.so: no such file"
    assert "the data parallel library of this image is used, from" in result.stderr


def test_what_is_left_of_a_removed_library_is_no_library(package: Path, tmp_path: Path) -> None:
    (tmp_path / "image" / "smdistributed" / "dataparallel" / "__pycache__").mkdir(parents=True)
    image = tmp_path / "image"
    program = f"import sys; sys.path.append({str(image)!r})\n"
    program += "from smdistributed.dataparallel import __version__ as v; print(v)"
    assert python(package, program).stdout == "2.5.0+smlocal\n"


def test_other_libraries_of_the_image_stay(package: Path, tmp_path: Path) -> None:
    image = installed(tmp_path, {"__init__.py": "", "modelparallel/__init__.py": "print('model parallel')\n"})
    program = f"import sys; sys.path.append({str(image)!r})\n"
    program += "import smdistributed.modelparallel, smdistributed.dataparallel as d; print(d.__version__)"
    result = python(package, program)
    assert result.stdout.splitlines() == ["model parallel", "2.5.0+smlocal"]
    assert result.stderr == ""


@pytest.mark.slow(0.5)
def test_settings_and_what_overrides_them(package: Path) -> None:
    program = "from smdistributed.smlocal_settings import read_settings as r; print(*r()[:3])"
    settings = package / "settings.json"
    settings.write_text(json.dumps({"Mode": "balanced", "FusionBufferBytes": 7, "Strict": True}))
    assert python(package, program).stdout == "balanced 7 True\n"
    assert python(package, program, SMLOCAL_DDP_MODE="plain").stdout == "plain 7 True\n"
    assert python(package, program, SMLOCAL_DDP_FUSION_BUFFER_BYTES="9").stdout == "balanced 9 True\n"
    settings.unlink()
    assert python(package, program).stdout == "plain None False\n"
    said = last_line(python(package, program, SMLOCAL_DDP_MODE="fast"))
    assert said == "ValueError: SMLOCAL_DDP_MODE is 'fast' and must be plain or balanced"
    said = last_line(python(package, program, SMLOCAL_DDP_FUSION_BUFFER_BYTES="0"))
    assert said.startswith("ValueError: SMLOCAL_DDP_FUSION_BUFFER_BYTES is '0' and must be a number of bytes")


def test_threads_of_others_may_finish(package: Path) -> None:
    """One works without Python's lock, and then waits."""
    program = """
import hashlib, threading
from smdistributed.smlocal_threads import let_finish
began, over, worked = threading.Event(), threading.Event(), []
def work():
    with open(f"/proc/self/task/{threading.get_native_id()}/comm", "w") as file:
        file.write("pt_gloo_runloop")
    began.set()
    hashlib.pbkdf2_hmac("sha256", b"a", b"b", 400_000)
    worked.append(1)
    over.wait()
threading.Thread(target=work).start()
began.wait()
let_finish("pt_gloo")
print(worked)
over.set()
"""
    result = python(package, program)
    assert result.stdout == "[1]\n", result.stderr


OMPI = {
    "OMPI_COMM_WORLD_RANK": "3",
    "OMPI_COMM_WORLD_SIZE": "4",
    "OMPI_COMM_WORLD_LOCAL_RANK": "1",
    "OMPI_COMM_WORLD_LOCAL_SIZE": "2",
}
SHOWN = (
    "import os; print(*(os.environ.get(n) for n in ('RANK', 'WORLD_SIZE', 'LOCAL_RANK', 'LOCAL_WORLD_SIZE', "
    "'MASTER_ADDR', 'MASTER_PORT', 'GLOO_SOCKET_IFNAME', 'PYTHONPATH')))"
)


def smddprun(*words: str, **variables: str) -> subprocess.CompletedProcess[str]:
    program = f"{SOURCE}/bin/smddprun"
    return subprocess.run(
        ["sh", program, *words],
        env={"PATH": os.environ["PATH"], **variables},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_a_rank_on_another_host() -> None:
    given = {**OMPI, "SMDATAPARALLEL_SERVER_ADDR": "algo-1", "NCCL_SOCKET_IFNAME": "eth0"}
    result = smddprun(sys.executable, "-c", SHOWN, **given)
    assert result.stdout == f"3 4 1 2 algo-1 7777 eth0 {SOURCE}/python\n"


def test_the_names_of_the_library_itself() -> None:
    program = "import os; print(os.environ['SMDATAPARALLEL_LOCAL_RANK'])"
    result = smddprun(sys.executable, "-c", program, **OMPI, MASTER_ADDR="algo-1")
    assert result.stdout == "1\n"


def test_what_is_set_already_stays() -> None:
    own = {"MASTER_ADDR": "here", "MASTER_PORT": "1", "GLOO_SOCKET_IFNAME": "lo", "PYTHONPATH": "/code"}
    result = smddprun(sys.executable, "-c", SHOWN, **OMPI, **own, NCCL_SOCKET_IFNAME="eth0")
    assert result.stdout == f"3 4 1 2 here 1 lo /code:{SOURCE}/python\n"


def test_one_host() -> None:
    one = {**OMPI, "OMPI_COMM_WORLD_RANK": "1", "OMPI_COMM_WORLD_SIZE": "2"}
    result = smddprun(sys.executable, "-c", SHOWN, **one)
    assert result.stdout == f"1 2 1 2 127.0.0.1 7777 None {SOURCE}/python\n"


@pytest.mark.parametrize(
    ("words", "given", "said"),
    [
        ((), OMPI, "usage: smddprun PROGRAM"),
        (("true",), {}, "Open MPI's mpirun has to start this program"),
        (("true",), OMPI, "SMDATAPARALLEL_SERVER_ADDR does not name the first of them"),
    ],
)
def test_what_it_refuses(words: tuple[str, ...], given: dict[str, str], said: str) -> None:
    result = smddprun(*words, **given)
    assert result.returncode == 2
    assert said in result.stderr


def test_the_exit_code_is_that_of_the_program() -> None:
    assert smddprun("sh", "-c", "exit 7", **OMPI, MASTER_ADDR="algo-1").returncode == 7
