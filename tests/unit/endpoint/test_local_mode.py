"""Lines that ask the SDK for its local mode are found where `smlocal exec` can see them, and nowhere else."""

from pathlib import Path

import pytest

from smlocal.endpoint.local_mode import local_mode_lines

NEEDS = "  # with: from sagemaker import Session"
SDK = "from sagemaker.estimator import Estimator\n"


def lines(folder: Path, *command: str) -> list[tuple[str, str, str]]:
    return [(each.place, each.line, each.instead) for each in local_mode_lines(command, str(folder))]


@pytest.mark.parametrize(
    ("line", "instead"),
    [
        ('    instance_type="local",', 'instance_type="ml.m5.large",'),
        ("INSTANCE_TYPE = 'local_gpu'", "INSTANCE_TYPE = 'ml.g5.xlarge'"),
        ('compute=Compute(instance_type="local_cpu")', 'compute=Compute(instance_type="ml.m5.large")'),
        ('add_argument("--instance-type", default="local")', 'add_argument("--instance-type", default="ml.m5.large")'),
        ("training_mode=Mode.LOCAL_CONTAINER,", "training_mode=Mode.SAGEMAKER_TRAINING_JOB,"),
        ("from sagemaker.local import LocalSession", "from sagemaker import Session"),
        (
            "from sagemaker.core.local.local_session import LocalSession",
            "from sagemaker.core.helper.session_helper import Session",
        ),
        ("session = LocalSession()", "session = Session()"),
        ("session = sagemaker.local.LocalSession()", "session = sagemaker.Session()"),
    ],
)
def test_a_line_that_asks_for_local_mode(line: str, instead: str, tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(f"{SDK}\n{line}\n")
    assert lines(tmp_path, "python", "train.py") == [("train.py:3", line.strip(), instead)]


@pytest.mark.parametrize(
    ("line", "instead"),
    [
        ('output_path="file://out",', ""),
        (
            'estimator.fit({"train": "file:///srv/rows"})',
            f'estimator.fit({{"train": Session().upload_data("/srv/rows", key_prefix="rows")}}){NEEDS}',
        ),
    ],
)
def test_what_only_local_mode_takes_is_changed_with_it_and_asks_for_nothing(
    line: str, instead: str, tmp_path: Path
) -> None:
    script = tmp_path / "train.py"
    script.write_text(f'{SDK}{line}\ninstance_type="ml.m5.large"\n')
    assert lines(tmp_path, "train.py") == []
    script.write_text(f'{SDK}{line}\ninstance_type="local"\n')
    assert lines(tmp_path, "train.py")[0] == ("train.py:2", line, instead)


@pytest.mark.parametrize(
    ("text", "session"),
    [
        ("import sagemaker", "sagemaker.Session()"),
        ("import os, sagemaker.local", "sagemaker.Session()"),
        ("import sagemaker as sm", "sm.Session()"),
        ("import sagemaker.local as local\nfrom sagemaker.local import LocalSession", "Session()"),
        ("from sagemaker import Session, image_uris", "Session()"),
        ("from sagemaker.local import LocalSession\nsession = LocalSession()", "session"),
    ],
)
def test_a_session_is_one_that_the_program_can_make(text: str, session: str, tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(f'{text}\ninstance_type="local"\nfit("file:///srv/rows")\n')
    *_, (_, _, instead) = lines(tmp_path, "train.py")
    assert instead == f'fit({session}.upload_data("/srv/rows", key_prefix="rows"))'


def test_without_one_the_import_of_its_version_is_named(tmp_path: Path) -> None:
    text = 'from sagemaker.train import ModelTrainer\ninstance_type="local"\nfit("file:///srv/rows")\n'
    (tmp_path / "train.py").write_text(text)
    *_, (_, _, instead) = lines(tmp_path, "train.py")
    assert instead.endswith("  # with: from sagemaker.core.helper.session_helper import Session")


@pytest.mark.parametrize(
    "text",
    [
        f'{SDK}# instance_type="local"\n',
        f'{SDK}if instance_type == "local":\n',
        f'{SDK}instance_type="ml.m5.large"\nplace = "local"\n',
        'instance_type="local"\n',
    ],
)
def test_no_such_line(text: str, tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(text)
    assert lines(tmp_path, "python", "train.py") == []


@pytest.mark.parametrize(
    ("command", "text"),
    [
        (["python", "code/main.py"], "import settings"),
        (["python", "code/main.py"], "from job.settings import KIND"),
        (["python", "code/main.py"], "from job import settings"),
        (["python", "-m", "code.main"], "from . import settings"),
        (["python", "-m", "code.main"], "from .settings import KIND"),
        (["python", "-m", "code.main"], "from code.settings import KIND"),
    ],
)
def test_a_module_of_the_programs_own_is_read(command: list[str], text: str, tmp_path: Path) -> None:
    place = tmp_path / "code" / ("job/settings.py" if "job" in text else "settings.py")
    place.parent.mkdir(parents=True)
    place.write_text('INSTANCE = "local"\n')
    (tmp_path / "code" / "main.py").write_text(f"import sagemaker\n{text}\n")
    assert [found for found, _, _ in lines(tmp_path, *command)] == [f"{place.relative_to(tmp_path)}:1"]


@pytest.mark.parametrize(
    ("words", "line", "instead"),
    [
        (["--instance-type", "local"], "--instance-type local", "--instance-type ml.m5.large"),
        (["--instance_type=local_gpu"], "--instance_type=local_gpu", "--instance_type=ml.g5.xlarge"),
    ],
)
def test_a_type_among_the_words_of_the_command(words: list[str], line: str, instead: str, tmp_path: Path) -> None:
    assert lines(tmp_path, "train", *words) == [("the command", line, instead)]
    assert lines(tmp_path, "train", "--place", "local") == []


def test_files_that_are_no_programs_of_the_user_are_not_read(tmp_path: Path) -> None:
    text = f'{SDK}instance_type="local"\n'
    installed = tmp_path / "lib" / "site-packages" / "train.py"
    installed.parent.mkdir(parents=True)
    installed.write_text(text)
    (tmp_path / "train.bin").write_bytes(b"\xff\xfe" + text.encode())
    (tmp_path / "large.py").write_text(text + "#" * (1 << 20))
    (tmp_path / "folder.py").mkdir()
    assert lines(tmp_path, str(installed), "train.bin", "large.py", "folder.py", "missing.py") == []


def test_modules_that_import_each_other(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("import sagemaker, b\nimport b\n")
    (tmp_path / "b.py").write_text('import a\ninstance_type = "local"\n')
    assert [place for place, _, _ in lines(tmp_path, "a.py")] == ["b.py:2"]
