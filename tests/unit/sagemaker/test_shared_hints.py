"""What a container shows of a mistake, from its changed paths and its files."""

import io
import tarfile
from collections.abc import Generator, Mapping, Sequence
from dataclasses import replace
from types import SimpleNamespace
from typing import cast

import pytest
from tests.unit.sagemaker.conftest import FACTS, job, planned

from smlocal.errors import EngineError
from smlocal.jobs.decide.attempt_outcome import Archive, HostEnd, Symptoms, Trouble
from smlocal.jobs.host.host_run import HostRun
from smlocal.jobs.host.symptoms import hint_of_exit
from smlocal.sagemaker.shared_hints import left_files, missing_module
from smlocal.sagemaker.training.hints import hint


def container(files: Mapping[str, str]) -> Archive:
    def archive(path: str) -> Generator[bytes, None, None]:
        whole = io.BytesIO()
        with tarfile.open(fileobj=whole, mode="w") as tar:
            entry = tarfile.TarInfo(path.rpartition("/")[2])
            if any(each.startswith(f"{path}/") for each in files):
                entry.type = tarfile.DIRTYPE
                tar.addfile(entry)
            elif path in files:
                entry.size = len(files[path])
                tar.addfile(entry, io.BytesIO(files[path].encode()))
            else:
                raise EngineError("no such file", status=404)
        yield whole.getvalue()

    return archive


def left(*paths: str, changed: Sequence[str] = ()) -> list[str]:
    symptoms = Symptoms(
        trouble=Trouble.NO_MODEL,
        archive=container(dict.fromkeys(paths, "x")),
        changed=lambda: [*changed, *paths, *{path.rpartition("/")[0] for path in paths}],
    )
    return left_files(symptoms)


@pytest.mark.parametrize(
    "path",
    [
        "/opt/program/model/model.json",
        "/opt/program/model/part/xgboost",
        "/opt/ml/models/m.bin",
        "/opt/ml/model.tar.gz",
        "/opt/ml/checkpoints/7",
        "/tmp/model.joblib",
        "/usr/src/app/best.pt",
        "/work/result.json",
        "/m",
    ],
)
def test_a_file_that_nothing_keeps(path: str) -> None:
    noise = ("/usr/lib/python3/x.pkl", "/root/.cache/model.bin", "/opt/program/__pycache__/model.pkl", "/tmp/x")
    assert left(path, *noise, "/var/lib/model.db", "/opt/ml/code/data.csv", "/opt/program/model.py") == [path]


def test_files_of_a_model_come_first_and_no_more_than_three() -> None:
    models = [f"/srv/model-{number}.bin" for number in range(5)]
    assert left("/srv/a", *models) == models[:3]
    assert left("/srv/b", "/srv/a") == ["/srv/a", "/srv/b"]


def test_what_was_removed_or_is_a_folder_is_not_named() -> None:
    assert left("/srv/folder/.hidden", changed=["/srv/folder", "/srv/gone.bin", "/srv/model"]) == []


def test_an_engine_that_does_not_say_it() -> None:
    def fails() -> Sequence[str]:
        raise EngineError("too slow")

    plan = planned(job({}, {}), FACTS)
    assert hint(plan, plan.hosts[0], Symptoms(trouble=Trouble.NO_MODEL, changed=fails)) is None


PANDAS = "ModuleNotFoundError: No module named 'pandas'"
TRACEBACK = f'Traceback\n  File "/app/main.py", line 1, in <module>\n    import pandas\n{PANDAS}'
LACKS = "The Python that ran in the container has no module "


@pytest.mark.parametrize(
    ("log", "files", "said"),
    [
        (PANDAS, {}, "pandas: install it in the Dockerfile (RUN pip install pandas), or COPY"),
        (
            "ModuleNotFoundError: No module named 'cv2.aruco'",
            {},
            "cv2.aruco: install it in the Dockerfile (RUN pip inst",
        ),
        ("/usr/bin/python3.11: No module named trainer", {}, "trainer: install it"),
        ("ImportError: No module named yaml", {}, "yaml: install it in the Dockerfile (RUN pip install pyyaml)"),
        (
            TRACEBACK,
            {"/app/requirements.txt": "numpy\nPandas[all] >= 2"},
            "pandas, but /app/requirements.txt lists it: install",
        ),
        (TRACEBACK, {"/app/requirements.txt": "pandas-stubs\ngeopandas"}, "pandas, and /app/requirements.txt does not"),
        (PANDAS, {"/opt/program/requirements.txt": "pandas"}, "pandas, but /opt/program/requirements.txt lists it"),
    ],
)
def test_a_module_that_is_missing(log: str, files: Mapping[str, str], said: str) -> None:
    plan = planned(job({}, {}), FACTS)
    symptoms = Symptoms(trouble=Trouble.FAILED, log=log, archive=container(files))
    assert (missing_module(plan, plan.hosts[0], symptoms, log.splitlines()[::-1]) or "").startswith(LACKS + said)
    assert (hint(plan, plan.hosts[0], symptoms) or "").startswith(LACKS + said)


def test_a_host_with_an_image_of_its_own() -> None:
    plan = planned(job({}, {}), FACTS)
    assert plan.image.facts is not None
    facts = replace(plan.image.facts, working_directory="/srv/own")
    host = replace(plan.hosts[0], program=replace(plan.image, facts=facts))
    archive = container({"/srv/own/requirements.txt": "pandas"})
    symptoms = Symptoms(trouble=Trouble.FAILED, log=PANDAS, archive=archive)
    assert "pandas, but /srv/own/requirements.txt lists it" in (hint(plan, host, symptoms) or "")

    host = replace(host, program=replace(plan.image, facts=replace(facts, entrypoint=("own-server",))))
    run = cast("HostRun", SimpleNamespace(plan=plan, host=host, log="/absent"))
    end = HostEnd(host="algo-1", exit_code=137, killed=True)
    said = hint_of_exit(end, run, grace=1, killed_early=True, credentials=False)
    assert (said or "").startswith("PID 1 (own-server) ")


@pytest.mark.parametrize(
    "log", [f"{PANDAS}\nDuring it, another\nValueError: x", "no module named x", "ImportError: cannot import name y"]
)
def test_another_end_than_a_missing_module(log: str) -> None:
    plan = planned(job({}, {}), FACTS)
    assert hint(plan, plan.hosts[0], Symptoms(trouble=Trouble.FAILED, log=log)) is None
