"""No module outside the folder of a platform spells the platform's words, apart from those that are listed here."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import chain
from pathlib import Path

import pytest

from smlocal.ai_platform.model import custom_job, training_job
from smlocal.sagemaker.contract.model import describe, request
from smlocal.terms.model.structure import Structure

SOURCE = Path(__file__).resolve().parents[2] / "src" / "smlocal"
MODULES = {str(path.relative_to(SOURCE)): path for path in sorted(SOURCE.rglob("*.py"))}


@dataclass(frozen=True, kw_only=True)
class Platform:
    """The words of one platform, and where else they may be."""

    folder: str
    members: frozenset[str]
    """The members of its requests and answers, if they consist of several words."""
    others: tuple[str, ...]
    """Also as parts of words, and whatever their case if they are in small letters."""
    rooms: Mapping[str, str]
    """Rooms and modules that may use any of its words, and why."""
    modules: Mapping[str, tuple[frozenset[str], str]]
    """Single words of other modules, and why they are there."""


def compound(members: Iterator[str]) -> frozenset[str]:
    """The names that consist of at least two words. Others, such as `Environment`, are common words."""
    return frozenset(name for name in members if len(re.findall(r"(?:^|[A-Z])[a-z]+", name)) > 1)


def sagemaker_members() -> Iterator[str]:
    for module in (request, describe):
        for kind in vars(module).values():
            if isinstance(kind, type) and issubclass(kind, Structure):
                yield from kind.__annotations__


SAGEMAKER = Platform(
    folder="sagemaker",
    members=compound(sagemaker_members()),
    others=("sagemaker", "TrainingJob", "/opt/ml", "AlgorithmError", "ClientError:", "CapacityError", "algo-1"),
    rooms={
        "__init__.py": "the sentence that introduces smlocal",
        "api": "its keywords and properties have the names that users of SageMaker know",
        "check": "rules for images of SageMaker's jobs",
        "cli": "its options and its screens have the names that users of SageMaker know",
        "service/conformance": "compares containers here with those of SageMaker",
        "debugger": "evaluates the rules of SageMaker Debugger",
        "jobs/data_parallel": "stands in for a library of SageMaker's",
        "errors/of_the_service.py": "errors about jobs on SageMaker itself",
        "jobfile/settings.py": "names the places in SageMaker's requests that have keywords",
        "jobfile/settings_of_data.py": "as above, and settings about the files of SageMaker's containers",
        "jobfile/settings_of_hosts.py": "as above",
        "jobs/planning/aspects": "what is said of an aspect of a job is said of SageMaker's jobs",
        "api/job_files.py": "finds the platform of a job file",
        "pytest_plugin": "its results have the names that users of SageMaker know",
        "service": "reads jobs of SageMaker itself",
        "report": "draws what a describe answer says",
        "endpoint": "answers requests to AWS",
        "pipelines": "leads executions of SageMaker's pipelines",
    },
    modules={
        "terms/checkpoints.py": (
            frozenset({"sagemaker"}),
            "what an uploader leaves has this suffix in buckets and folders, whoever reads them",
        ),
        "ai_platform/jobfile/job_file.py": (
            frozenset({"/opt/ml", "ResourceConfig"}),
            "says which settings of the one table its jobs have no use for",
        ),
        "engine/client.py": (frozenset({"sagemaker", "/opt/ml"}), "the file by which SageMaker Studio is known"),
        "engine/facts.py": (frozenset({"sagemaker"}), "the network and the host of SageMaker Studio"),
        "engine/place.py": (frozenset({"sagemaker"}), "as above"),
        "terms/metrics.py": (frozenset({"MetricName"}), "the key of stored values"),
        "jobs/credentials/server.py": (frozenset({"RoleArn"}), "a parameter of STS"),
        "jobs/credentials/listener.py": (frozenset({"RoleArn"}), "a key of the endpoint for credentials of AWS"),
        "doctor/checks.py": (frozenset({"sagemaker"}), "asks which region a job of SageMaker's would get"),
        "errors/__init__.py": (frozenset({"TrainingJob"}), "exports the errors about jobs on SageMaker itself"),
        "jobs/kind.py": (frozenset({"sagemaker"}), "the table of kinds of jobs"),
        "jobs/metrics/found_values.py": (frozenset({"MetricName"}), "the key of stored values"),
        "jobs/store/database.py": (
            frozenset({"sagemaker", "TrainingJob", "TrainingJobArn", "S3ModelArtifacts"}),
            "moves jobs that were stored when there was one platform",
        ),
    },
)
AI_PLATFORM = Platform(
    folder="ai_platform",
    members=compound(
        chain.from_iterable(members for module in (training_job, custom_job) for members in module.STRUCTURES.values())
    ),
    others=(
        *("ai_platform", "AI Platform", "aiplatform", "Vertex", "TF_CONFIG", "CLUSTER_SPEC", "AIP_", "CLOUD_ML_"),
        *("JOB_STATE_", "workerpool0", "gs://", "/gcs"),
    ),
    rooms={
        "api/job_files.py": "finds the platform of a job file",
        "api/request_tables.py": "the requests of all platforms",
    },
    modules={
        "api/job_source.py": (frozenset({"AI Platform"}), "says what a job file is that the call cannot take"),
        **{
            f"cli/commands/{name}.py": (frozenset({"AI Platform"}), "its help says which jobs it takes")
            for name in ("describe", "jobs", "run", "stop")
        },
        "cli/help_topics.py": (
            frozenset({"AI Platform", "trainingInput", "jobSpec", "workerPoolSpecs"}),
            "a topic of help is about its jobs",
        ),
        "endpoint/batch/operations.py": (frozenset({"jobId"}), "a member of AWS Batch too"),
        "jobs/kind.py": (frozenset({"ai_platform"}), "the table of kinds of jobs"),
        "sagemaker/contract/documents/config_files.py": (
            frozenset({"outputPath"}),
            "a key in a file for SageMaker's containers",
        ),
        "endpoint/logs/operations.py": (frozenset({"startTime", "endTime"}), "parameters of CloudWatch Logs"),
    },
)
PLATFORMS = (SAGEMAKER, AI_PLATFORM)


def in_small_letters(name: str) -> str:
    """`InputDataConfig` to `input_data_config`."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()


@cache
def spellings(members: frozenset[str]) -> Mapping[str, str]:
    """The members by what they are in a text. Names in small letters are common if they have only two words."""
    small = {in_small_letters(name): name for name in members}
    return {name: name for name in members} | {text: name for text, name in small.items() if text.count("_") > 1}


@cache
def pattern(members: frozenset[str]) -> re.Pattern[str]:
    """Finds all spellings, even with more letters after them."""
    return re.compile(rf"(?<![A-Za-z0-9])(?:{'|'.join(sorted(spellings(members), key=len, reverse=True))})")


def words_of(platform: Platform, text: str) -> set[str]:
    """The platform's words in a text, in names, strings, comments and docstrings."""
    found = {spellings(platform.members)[each] for each in pattern(platform.members).findall(text)}
    small = text.lower()
    return found | {word for word in platform.others if word in (small if word.islower() else text)}


def may_use_any(platform: Platform, module: str) -> bool:
    """True for the modules of the platform and of the rooms that may use all of its words."""
    return any(module == place or module.startswith(f"{place}/") for place in (platform.folder, *platform.rooms))


@pytest.mark.slow(0.5)
@pytest.mark.parametrize("platform", PLATFORMS, ids=lambda platform: platform.folder)
def test_no_other_module_spells_the_words_of_a_platform(platform: Platform) -> None:
    others = {name: path for name, path in MODULES.items() if not may_use_any(platform, name)}
    found = {name: words_of(platform, f"{name}\n{path.read_text(encoding='utf-8')}") for name, path in others.items()}
    assert {name: words for name, words in found.items() if words} == {
        name: words for name, (words, _) in platform.modules.items()
    }


@pytest.mark.parametrize("platform", PLATFORMS, ids=lambda platform: platform.folder)
def test_each_listed_room_spells_some_of_the_words(platform: Platform) -> None:
    for room in platform.rooms:
        inside = [path for name, path in MODULES.items() if name == room or name.startswith(f"{room}/")]
        assert any(words_of(platform, path.read_text(encoding="utf-8")) for path in inside), room


def test_words_are_found_in_names_strings_comments_and_docstrings() -> None:
    text = '''
"""As `InputDataConfig.ChannelName`."""
training_job_name = "/opt/ml/model"  # for SageMaker
class StoppingConditions: ...
'''
    members = {"InputDataConfig", "ChannelName", "TrainingJobName", "StoppingCondition"}
    assert words_of(SAGEMAKER, text) == {*members, "/opt/ml", "sagemaker"}
    assert words_of(AI_PLATFORM, "workerPoolSpecs = 'gs://b'") == {"workerPoolSpecs", "gs://"}
    assert words_of(AI_PLATFORM, "TrainingInputMode, environment, replica") == set()
