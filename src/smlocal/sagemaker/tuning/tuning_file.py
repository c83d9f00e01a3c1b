"""Read a tuning job: a CreateHyperParameterTuningJob request with local settings."""

import re
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from datetime import datetime
from typing import Any, ClassVar, Final, cast

from smlocal.base.quick_dataclass import dataclass
from smlocal.jobfile.document import Document
from smlocal.jobfile.option import LOCAL, Option
from smlocal.jobfile.settings import LocalSettings
from smlocal.sagemaker.contract.model.tuning import CreateHyperParameterTuningJobRequest
from smlocal.sagemaker.contract.requested import OBJECTIVE_KEY
from smlocal.sagemaker.contract.validation.rules import broken_rules
from smlocal.sagemaker.jobfile.job_file import what_runs
from smlocal.sagemaker.jobfile.request_reading import NO_ERROR_CODE, SharedReading, ValidRequest, WhatRuns
from smlocal.sagemaker.tuning import facts
from smlocal.sagemaker.tuning.members import MEMBERS
from smlocal.sagemaker.tuning.ranges import broken_ranges, combinations, ranges_of
from smlocal.sagemaker.tuning.search import SearchPlan
from smlocal.sagemaker.tuning.trials import Objective, SearchDefinition
from smlocal.terms.made_names import without_tuning_time
from smlocal.terms.validation.violation import Path, Violation, spoken
from smlocal.terms.validation.walk import missing

_NAME_LENGTH: Final = 32
_NOT_IN_NAMES: Final = re.compile(r"[^a-zA-Z0-9]+")
_CONFIG: Final = "HyperParameterTuningJobConfig"
_OWN: Final = frozenset(
    {
        "DefinitionName",
        "TuningObjective",
        "HyperParameterRanges",
        "StaticHyperParameters",
        "HyperParameterTuningResourceConfig",
    }
)
"""Members of a definition that CreateTrainingJob does not have."""
_TUNED_RESOURCES: Final = "HyperParameterTuningResourceConfig"


@dataclass(frozen=True, kw_only=True, slots=True)
class Definition:
    """One training job definition."""

    name: str | None
    path: Path
    """Where it is in the document."""
    request: dict[str, Any] = field(repr=False)
    """A CreateTrainingJob request of it, without tuned hyperparameters and without a name."""
    search: SearchDefinition


@dataclass(frozen=True, kw_only=True, slots=True)
class TuningFile:
    """A valid tuning job."""

    request: CreateHyperParameterTuningJobRequest
    definitions: tuple[Definition, ...]
    local: LocalSettings
    raw: dict[str, Any] = field(repr=False)
    """The request as it was given, without `Local` and without members that are null."""
    document: Document = field(repr=False)

    @property
    def parents(self) -> list[str]:
        """The parents of a warm start."""
        start = self.raw.get("WarmStartConfig") or {}
        return [each["HyperParameterTuningJobName"] for each in start.get("ParentHyperParameterTuningJobs") or ()]

    @property
    def same_data(self) -> bool:
        """True for a warm start with the data and the algorithm of its parents."""
        return (self.raw.get("WarmStartConfig") or {}).get("WarmStartType") == "IdenticalDataAndAlgorithm"

    def plan(self, name: str, definitions: Sequence[SearchDefinition] | None = None) -> SearchPlan:
        """The rules of its search under this name. `definitions`: with what parents have found."""
        config = self.raw[_CONFIG]
        limits, criteria = config["ResourceLimits"], config.get("TuningJobCompletionCriteria") or {}
        given = definitions or [each.search for each in self.definitions]
        seed = config.get("RandomSeed")
        converged = (criteria.get("ConvergenceDetected") or {}).get("CompleteOnConvergence")
        least, most = _resources(config, self.definitions)
        return SearchPlan(
            strategy=config["Strategy"],
            definitions=tuple(given),
            seed=zlib.crc32(name.encode()) if seed is None else seed,
            most=limits.get("MaxNumberOfTrainingJobs") or _grid_size(self.definitions) or 1,
            parallel=limits["MaxParallelTrainingJobs"],
            runtime=limits.get("MaxRuntimeInSeconds"),
            early=config.get("TrainingJobEarlyStoppingType") == "Auto",
            least_resource=least,
            most_resource=most,
            target=criteria.get("TargetObjectiveMetricValue"),
            idle=(criteria.get("BestObjectiveNotImproving") or {}).get("MaxNumberOfTrainingJobsNotImproving"),
            until_converged=converged == "Enabled",
        )


def default_name(stem: str, now: datetime) -> str:
    """A valid name made from a file's name and the time."""
    stamp = now.strftime("-%y%m%d-%H%M%S") + f"{now.microsecond // 1000:03}"
    return (_NOT_IN_NAMES.sub("-", stem).strip("-")[: _NAME_LENGTH - len(stamp)].strip("-") or "tuning") + stamp


class TuningReading(SharedReading):
    """Its `Local` block is that of its training jobs."""

    SHAPE = CreateHyperParameterTuningJobRequest
    TABLE = MEMBERS
    NAME = "HyperParameterTuningJobName"
    REFUSED: ClassVar[Mapping[str, str]] = NO_ERROR_CODE
    PLACES: ClassVar[Mapping[str, Path]] = {"members": (), "name": ("HyperParameterTuningJobName",)}
    ONLY_ANSWERED = frozenset(
        {
            "HyperParameterTuningJobStatus",
            "CreationTime",
            "HyperParameterTuningEndTime",
            "LastModifiedTime",
            "TrainingJobStatusCounters",
            "ObjectiveStatusCounters",
            "BestTrainingJob",
            "OverallBestTrainingJob",
            "FailureReason",
            "TuningJobCompletionDetails",
            "ConsumedResources",
            "ResponseMetadata",
        }
    )
    USUAL_STEM = "tuning"
    TASK = "run the tuning job"

    def made(self, valid: ValidRequest) -> TuningFile:
        """With its definitions."""
        definitions = tuple(definitions_of(valid.raw))
        return TuningFile(
            request=valid.request, definitions=definitions, local=valid.local, raw=valid.raw, document=valid.document
        )

    def new_name(self, stem: str, now: datetime) -> str:
        """Shorter than that of another job: names of training jobs are made of it."""
        return default_name(stem, now)

    def stem_of(self, name: str) -> str:
        """Likewise."""
        return without_tuning_time(name)

    def remove_additions(self, taken: dict[str, Any]) -> None:
        """Of each definition."""
        config = taken.get("HyperParameterTuningJobConfig")
        common = config.get("HyperParameterTuningJobObjective") if isinstance(config, Mapping) else None
        one, several = taken.get("TrainingJobDefinition"), taken.get("TrainingJobDefinitions")
        if isinstance(one, Mapping):
            taken["TrainingJobDefinition"] = _as_requested(one, common)
        if isinstance(several, list):
            taken["TrainingJobDefinitions"] = [
                _as_requested(each, common) if isinstance(each, Mapping) else each for each in several
            ]

    def broken_rules(self, request: Any, raw: Mapping[str, Any], *, strict: bool) -> Iterator[Violation]:
        """What the members say together."""
        required = [*_missing_here(raw)] if strict else []
        yield from required
        if request is not None and not required:
            yield from _broken_rules(raw, definitions_of(raw))

    def broken_local_rules(self, local: LocalSettings, request: Any, raw: Mapping[str, Any]) -> list[Violation]:
        """Those of a training job of the first definition."""
        if request is None:
            return []
        found = super().broken_local_rules(local, request, raw)
        if local.DebugPort and raw[_CONFIG]["ResourceLimits"]["MaxParallelTrainingJobs"] > 1:
            text = "Local.DebugPort: training jobs that run at once cannot share a port; set MaxParallelTrainingJobs: 1"
            found.append(Violation(path=(LOCAL, "DebugPort"), text=text))
        return found

    def what_runs(self, local: LocalSettings, request: Any, raw: Mapping[str, Any]) -> WhatRuns:
        """That training job."""
        del request
        return what_runs(next((each.request for each in definitions_of(raw)), {}), local)

    def instead(self, data: Mapping[str, Any], refused: Sequence[tuple[Option, str]]) -> list[str]:
        """Options are about one training job."""
        del data, refused
        return ["Set it in the file of the tuning job, for all of its training jobs."]


READING: Final = TuningReading()


def _as_requested(definition: Mapping[str, Any], common: Any) -> dict[str, Any]:
    """Without the name of the objective metric, unless a client has written it in another form."""
    found = dict(definition)
    statics, objective = found.get("StaticHyperParameters"), found.get("TuningObjective") or common
    metric = objective.get("MetricName") if isinstance(objective, Mapping) else None
    if isinstance(statics, Mapping) and metric is not None and statics.get(OBJECTIVE_KEY) == metric:
        found["StaticHyperParameters"] = {name: each for name, each in statics.items() if name != OBJECTIVE_KEY}
        if not found["StaticHyperParameters"]:
            del found["StaticHyperParameters"]
    if found.get(_TUNED_RESOURCES):
        found.pop("ResourceConfig", None)
    return found


def read_tuning(document: Document, *, strict: bool = False, local_allowed: bool = True) -> TuningFile:
    """Validate a document; one error lists all mistakes."""
    return cast("TuningFile", READING.read(document, strict=strict, local_allowed=local_allowed))


def definitions_of(raw: Mapping[str, Any]) -> list[Definition]:
    """The definitions in a request whose members are valid."""
    return list(_definitions(raw))


def broken_request(raw: Mapping[str, Any]) -> list[Violation]:
    """What the service refuses in a request whose members are valid, as far as smlocal knows its members."""
    required = list(_missing_here(raw))
    return required if MEMBERS.refused(raw) else [*required, *_broken_rules(raw, definitions_of(raw))]


def jobs_at_most(raw: Mapping[str, Any]) -> int | None:
    """How many training jobs a valid request may make; None if the service chooses."""
    most: int | None = raw[_CONFIG]["ResourceLimits"].get("MaxNumberOfTrainingJobs")
    if most is None and raw[_CONFIG]["Strategy"] == "Grid" and not MEMBERS.refused(raw):
        return _grid_size(definitions_of(raw)) or None
    return most


def _missing_here(raw: Mapping[str, Any]) -> Iterator[Violation]:
    """What the service requires, and a file of this machine may leave out."""
    if "HyperParameterTuningJobName" not in raw:
        yield missing(("HyperParameterTuningJobName",))
    for path, each in _given_definitions(raw):
        if isinstance(each, dict) and "RoleArn" not in each:
            yield missing((*path, "RoleArn"))


def _given_definitions(raw: Mapping[str, Any]) -> Iterator[tuple[Path, Any]]:
    if raw.get("TrainingJobDefinition"):
        yield ("TrainingJobDefinition",), raw["TrainingJobDefinition"]
    several = raw.get("TrainingJobDefinitions")
    for index, each in enumerate(several if isinstance(several, list) else ()):
        yield ("TrainingJobDefinitions", index), each


def _definitions(raw: Mapping[str, Any]) -> Iterator[Definition]:
    config = raw[_CONFIG]
    for path, each in _given_definitions(raw):
        several = path[0] == "TrainingJobDefinitions"
        objective = each.get("TuningObjective") or config.get("HyperParameterTuningJobObjective") or {}
        ranges = each.get("HyperParameterRanges") if several else config.get("ParameterRanges")
        metric = objective.get("MetricName", "")
        statics, grid = each.get("StaticHyperParameters") or {}, config["Strategy"] == "Grid"
        broken = any(broken_ranges(ranges, (), statics=statics, grid=grid))  # which is reported as a mistake
        yield Definition(
            name=each.get("DefinitionName"),
            path=path,
            request=_training_request(each, metric, raw.get("Tags")),
            search=SearchDefinition(
                objective=Objective(metric=metric, direction=objective.get("Type", "Maximize")),
                ranges=() if broken else ranges_of(ranges),
            ),
        )


def _training_request(definition: Mapping[str, Any], metric: str, tags: Any) -> dict[str, Any]:
    request = {name: value for name, value in definition.items() if name not in _OWN}
    tuned = definition.get(_TUNED_RESOURCES)
    if tuned is not None:
        chosen = (tuned.get("InstanceConfigs") or [{}])[0]
        kept = ("InstanceType", "InstanceCount", "VolumeSizeInGB", "VolumeKmsKeyId")
        request["ResourceConfig"] = {name: value for name, value in {**tuned, **chosen}.items() if name in kept}
    request["HyperParameters"] = {
        OBJECTIVE_KEY: metric,
        **(definition.get("StaticHyperParameters") or {}),
    }
    if tags:
        request["Tags"] = tags
    return request


def _broken_rules(raw: Mapping[str, Any], definitions: Sequence[Definition]) -> Iterator[Violation]:
    """What the members say together."""
    config = raw[_CONFIG]
    if not definitions:
        yield _says(("TrainingJobDefinition",), "a tuning job needs TrainingJobDefinition or TrainingJobDefinitions")
        return
    if len({each.path[0] for each in definitions}) > 1:
        yield _says(("TrainingJobDefinitions",), "TrainingJobDefinition and TrainingJobDefinitions exclude each other")
    start: Path = ("WarmStartConfig", "ParentHyperParameterTuningJobs")
    for index, each in enumerate((raw.get("WarmStartConfig") or {}).get(start[1]) or ()):
        if "HyperParameterTuningJobName" not in each:
            yield missing((*start, index, "HyperParameterTuningJobName"))
    if len(definitions) > 1 and raw.get("WarmStartConfig"):
        yield _says(("WarmStartConfig",), "a warm start is for one training job definition, and not for several")
    for each in definitions:
        yield from _broken_definition(raw, each)
    yield from _broken_limits(config, definitions)
    if config["Strategy"] == "Hyperband":
        yield from _broken_hyperband(config, definitions)
    elif config.get("StrategyConfig"):
        yield _says((_CONFIG, "StrategyConfig"), "only Strategy: Hyperband has a configuration")


def _broken_definition(raw: Mapping[str, Any], definition: Definition) -> Iterator[Violation]:
    several = definition.path[0] == "TrainingJobDefinitions"
    given: Any = raw[str(definition.path[0])]
    given = given[definition.path[1]] if several else given
    statics = given.get("StaticHyperParameters") or {}
    at: Path = (*definition.path, "HyperParameterRanges") if several else (_CONFIG, "ParameterRanges")
    ranges = given.get("HyperParameterRanges") if several else raw[_CONFIG].get("ParameterRanges")
    if several and not definition.name:
        yield _says((*definition.path, "DefinitionName"), "each of several definitions needs a name")
    yield from broken_ranges(ranges, at, statics=statics, grid=raw[_CONFIG]["Strategy"] == "Grid")
    metric = definition.search.objective.metric
    objective: Path = (
        (*definition.path, "TuningObjective") if several else (_CONFIG, "HyperParameterTuningJobObjective")
    )
    if not metric:
        yield _says(objective, "the objective is missing: it is the metric to compare training jobs by")
    elif not any(each["Name"] == metric for each in given["AlgorithmSpecification"].get("MetricDefinitions") or ()):
        yield Violation(
            path=objective,
            text=f"{spoken(objective)}: no MetricDefinitions define the metric '{metric}'",
            service=facts.NO_METRIC_DEFINED,
        )
    names = {*definition.request["HyperParameters"], *(each.name for each in definition.search.ranges)}
    if len(names) > facts.MOST_HYPERPARAMETERS:
        text = (
            f"a training job would have {len(names)} hyperparameters, with the tuned ones and {OBJECTIVE_KEY}; "
            f"at most {facts.MOST_HYPERPARAMETERS} are allowed"
        )
        yield _says((*definition.path, "StaticHyperParameters"), text)
    if given.get(_TUNED_RESOURCES) and given.get("ResourceConfig"):
        yield _says((*definition.path, _TUNED_RESOURCES), f"{_TUNED_RESOURCES} and ResourceConfig exclude each other")
    for violation in broken_rules({"TrainingJobName": "x", **definition.request}, strict=False):
        path = (*definition.path, *_in_definition(violation.path, tuned=_TUNED_RESOURCES in given))
        if violation == missing(violation.path):
            yield missing(path)
        else:
            yield Violation(path=path, text=violation.text.replace(spoken(violation.path), spoken(path)))


def _in_definition(path: Path, *, tuned: bool) -> Path:
    names = {"HyperParameters": "StaticHyperParameters", **({"ResourceConfig": _TUNED_RESOURCES} if tuned else {})}
    return (names.get(str(path[0]), path[0]), *path[1:]) if path else path


def _broken_limits(config: Mapping[str, Any], definitions: Sequence[Definition]) -> Iterator[Violation]:
    limits = config["ResourceLimits"]
    at: Path = (_CONFIG, "ResourceLimits", "MaxNumberOfTrainingJobs")
    most, grid = limits.get("MaxNumberOfTrainingJobs"), config["Strategy"] == "Grid"
    # Ranges that cannot be read are none, and a mistake of their own.
    sizes = [combinations(each.search.ranges) if each.search.ranges else None for each in definitions]
    size = None if None in sizes else sum(each for each in sizes if each is not None)
    if grid and size is not None and size > facts.MOST_JOBS:
        yield _says(at, f"the grid has {size:,} points, and a tuning job runs at most {facts.MOST_JOBS:,}")
    elif grid and most is not None and size is not None and most != size:
        yield _says(at, f"it is {most}, and a grid of {size:,} combinations runs each once; remove it")
    elif not grid and most is None:
        yield _says(at, "it is required, unless Strategy is Grid")
    elif not grid and most is not None and size is not None and size < most:
        sentence = facts.too_few_combinations(size, most)
        yield Violation(path=at, text=sentence, service=sentence)
    if most is not None and most > facts.MOST_JOBS:
        yield _says(at, f"a tuning job runs at most {facts.MOST_JOBS:,} training jobs here")


def _broken_hyperband(config: Mapping[str, Any], definitions: Sequence[Definition]) -> Iterator[Violation]:
    at: Path = (_CONFIG, "StrategyConfig", "HyperbandStrategyConfig", "MaxResource")
    least, most = _resources(config, definitions)
    if config.get("TrainingJobEarlyStoppingType") == "Auto":
        yield _says((_CONFIG, "TrainingJobEarlyStoppingType"), "Hyperband stops training jobs itself; it must be Off")
    if not most:
        names = ", ".join(facts.EPOCH_NAMES)
        yield _says(at, f"MaxResource is missing, and no static hyperparameter ({names}) gives a number")
    elif most > facts.MOST_RESOURCE:
        yield _says(at, f"it is {most:,}, and at most {facts.MOST_RESOURCE:,}")
    elif least >= most:
        yield _says(at, f"MaxResource is {most}, and must be greater than MinResource, which is {least}")


def _resources(config: Mapping[str, Any], definitions: Sequence[Definition]) -> tuple[int, int]:
    """MinResource and MaxResource of Hyperband; 0 if it is not known."""
    given = (config.get("StrategyConfig") or {}).get("HyperbandStrategyConfig") or {}
    most = given.get("MaxResource") or 0
    for each in definitions:
        statics = each.request["HyperParameters"]
        key = facts.resource_key(list(statics))
        if not most and key is not None and statics[key].isdecimal():
            most = int(statics[key])
    return given.get("MinResource") or 1, most


def _grid_size(definitions: Sequence[Definition]) -> int:
    return sum(combinations(each.search.ranges) or 0 for each in definitions)


def _says(path: Path, text: str) -> Violation:
    return Violation(path=path, text=f"{spoken(path)}: {text}")
