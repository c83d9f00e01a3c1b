"""A commented file of a tuning job."""

import json
import re
from typing import Final

from smlocal.sagemaker.jobfile.new_file import NewJobFile, channels, smaller_is_better

_METRIC: Final = ("objective", "=")
_HYPERPARAMETER: Final = "learning_rate"


def text(asked: NewJobFile) -> str:
    """A search with a metric and a hyperparameter of the programs beside it, or with names to replace."""
    (metric, behind), parameter = asked.metric, asked.hyperparameter
    said = "" if metric else ' # the program must print such a line: print(f"objective={value}")'
    named = "" if parameter else " # a hyperparameter that the program reads"
    metric, behind = (metric, behind) if metric else _METRIC
    regex = json.dumps(f"{re.escape(metric)}{behind}([-+.0-9e]+)")
    given = "".join(f"  {line}\n" if asked.data else f"  # {line}\n" for line in channels(asked.data))
    return f"""\
{asked.head("A CreateHyperParameterTuningJob request")}\
# To submit it to SageMaker, give HyperParameterTuningJobName and RoleArn, an image in ECR, and s3:// locations.

# HyperParameterTuningJobName: my-search # default: a name made from this file's name and the time
HyperParameterTuningJobConfig:
  Strategy: Random # or Bayesian, Grid, Hyperband
  HyperParameterTuningJobObjective: {{Type: {"Minimize" if smaller_is_better(metric) else "Maximize"}, \
MetricName: {json.dumps(metric)}}}
  ResourceLimits: {{MaxNumberOfTrainingJobs: 4, MaxParallelTrainingJobs: 1}}
  ParameterRanges: # or ContinuousParameterRanges with MinValue: "0.001", CategoricalParameterRanges with Values: [a, b]
    IntegerParameterRanges:
      - {{Name: {json.dumps(parameter or _HYPERPARAMETER)}, MinValue: "2", MaxValue: "10"}}{named}
TrainingJobDefinition: # one of its training jobs
  # RoleArn: arn:aws:iam::123456789012:role/SageMakerRole
  AlgorithmSpecification:
    TrainingImage: {asked.quoted_image}
    TrainingInputMode: File
    MetricDefinitions:
      - {{Name: {json.dumps(metric)}, Regex: {regex}}}{said}
  # StaticHyperParameters: {{epochs: "3"}}
{given}  OutputDataConfig: {{S3OutputPath: ./smlocal-output}}
  ResourceConfig: {{InstanceType: ml.m5.large, InstanceCount: 1, VolumeSizeInGB: 30}}
  StoppingCondition: {{MaxRuntimeInSeconds: 3600}}
"""
