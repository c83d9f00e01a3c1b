"""A commented file of a pipeline."""

from typing import Final

from smlocal.jobs.kind import module_of
from smlocal.sagemaker.jobfile.new_file import NewJobFile
from smlocal.sagemaker.kinds import PROCESSING

_MADE: Final = "Steps.Prepare.ProcessingOutputConfig.Outputs['output'].S3Output.S3Uri"


def text(asked: NewJobFile) -> str:
    """Processing, a condition, and training on what the processing job has written."""
    return f"""\
{asked.head("A pipeline definition")}\
# To create it on SageMaker, add RoleArn to the arguments of each step, name images in ECR and s3:// locations, and give
# the file as JSON to:  aws sagemaker create-pipeline --pipeline-definition

Version: "2020-12-01"
Parameters: # another value for one run:  --parameter Epochs=5
  - {{Name: Epochs, Type: Integer, DefaultValue: 3}}
Steps:
  - Name: Prepare
    Type: Processing
    Arguments: # a CreateProcessingJob request without the name
{_indented(_processing(asked), 6)}\
  - Name: Enough
    Type: Condition
    DependsOn: [Prepare]
    Arguments:
      Conditions: # all of them must hold
        - {{Type: GreaterThanOrEqualTo, LeftValue: {{Get: Parameters.Epochs}}, RightValue: 1}}
      IfSteps:
        - Name: Train
          Type: Training
          Arguments: # a CreateTrainingJob request without the name
            AlgorithmSpecification: {{TrainingImage: {asked.quoted_image}, TrainingInputMode: File}}
            HyperParameters: {{epochs: {{"Std:Join": {{"On": "", Values: [{{Get: Parameters.Epochs}}]}}}}}}
            InputDataConfig:
              - ChannelName: training
                DataSource:
                  S3DataSource:
                    S3DataType: S3Prefix
                    S3Uri: {{Get: "{_MADE}"}}
            OutputDataConfig: {{S3OutputPath: ./smlocal-output}}
            ResourceConfig: {{InstanceType: ml.m5.large, InstanceCount: 1, VolumeSizeInGB: 30}}
            StoppingCondition: {{MaxRuntimeInSeconds: 3600}}
      ElseSteps:
        - {{Name: TooFew, Type: Fail, Arguments: {{ErrorMessage: Epochs must be 1 or more}}}}
# Local: # settings of this machine, which the service does not know
#   Steps: # what runs in place of a step
#     Prepare: {{Command: [python3, prepare.py]}} # or Python: prepare.py:handler, Outputs: {{}}, Skip: true
"""


def _processing(asked: NewJobFile) -> str:
    """The request of a new file of a processing job."""
    whole: str = module_of(PROCESSING.name, "new_file").text(asked)
    return whole[whole.index("\nAppSpecification:") + 1 :]


def _indented(lines: str, by: int) -> str:
    return "".join(f"{'':{by}}{line}\n" for line in lines.splitlines())
