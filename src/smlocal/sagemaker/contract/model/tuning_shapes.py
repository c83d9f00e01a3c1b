"""Strings, numbers, lists and maps that only CreateHyperParameterTuningJob has.

Written by scripts/generate-models from botocore 1.44.5; do not edit.
"""

from typing import Annotated, Literal

from smlocal.jobs.contract.model.structure import Items, Text, Whole

HyperParameterTuningJobName = Annotated[str, Text(minimum=1, maximum=32, pattern="[a-zA-Z0-9](-*[a-zA-Z0-9]){0,31}")]
HyperParameterTuningJobStrategyType = Literal["Bayesian", "Random", "Hyperband", "Grid"]
HyperbandStrategyMinResource = Annotated[int, Whole(minimum=1)]
HyperbandStrategyMaxResource = Annotated[int, Whole(minimum=1)]
HyperParameterTuningJobObjectiveType = Literal["Maximize", "Minimize"]
MaxNumberOfTrainingJobs = Annotated[int, Whole(minimum=1)]
MaxParallelTrainingJobs = Annotated[int, Whole(minimum=1)]
HyperParameterTuningMaxRuntimeInSeconds = Annotated[int, Whole(minimum=120, maximum=15768000)]
ParameterKey = Annotated[str, Text(minimum=0, maximum=256, pattern=".*")]
ParameterValue = Annotated[str, Text(minimum=0, maximum=256, pattern=".*")]
HyperParameterScalingType = Literal["Auto", "Linear", "Logarithmic", "ReverseLogarithmic"]
ParameterValues = Annotated[list[ParameterValue], Items(minimum=1, maximum=30)]
TrainingJobEarlyStoppingType = Literal["Off", "Auto"]
TargetObjectiveMetricValue = float
MaxNumberOfTrainingJobsNotImproving = Annotated[int, Whole(minimum=3)]
CompleteOnConvergence = Literal["Disabled", "Enabled"]
RandomSeed = Annotated[int, Whole(minimum=0)]
HyperParameterTrainingJobDefinitionName = Annotated[
    str, Text(minimum=1, maximum=64, pattern="[a-zA-Z0-9](-*[a-zA-Z0-9]){0,63}")
]
HyperParameterTuningAllocationStrategy = Literal["Prioritized"]
VolumeSizeInGB = Annotated[int, Whole(minimum=1)]
HyperParameterTrainingJobEnvironmentKey = Annotated[str, Text(minimum=0, maximum=512, pattern="[a-zA-Z_][a-zA-Z0-9_]*")]
HyperParameterTrainingJobEnvironmentValue = Annotated[str, Text(minimum=0, maximum=512, pattern="[\\S\\s]*")]
HyperParameterTrainingJobEnvironmentMap = Annotated[
    dict[HyperParameterTrainingJobEnvironmentKey, HyperParameterTrainingJobEnvironmentValue],
    Items(minimum=0, maximum=48),
]
HyperParameterTuningJobWarmStartType = Literal["IdenticalDataAndAlgorithm", "TransferLearning"]
AutotuneMode = Literal["Enabled"]
