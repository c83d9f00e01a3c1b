"""A commented job file of one host."""

from collections.abc import Iterator

from smlocal.sagemaker.jobfile.new_file import BuiltImage, NewJobFile, channels, comment


def text(asked: NewJobFile) -> str:
    """A job file with a channel for each folder with data."""
    lines = [*channels(asked.data)]
    given = "".join(f"{line}\n" if asked.data else f"# {line}\n" for line in lines)
    start = "".join(f"  # {line}\n" for line in _start(asked.built))
    return f"""\
{asked.head("A CreateTrainingJob request")}\
# To submit it to SageMaker, give TrainingJobName and RoleArn, an image in ECR, and s3:// locations for local paths.

# TrainingJobName: my-job # default: a name made from this file's name and the time
# RoleArn: arn:aws:iam::123456789012:role/SageMakerRole
AlgorithmSpecification:
{start}  TrainingImage: {asked.quoted_image}
  TrainingInputMode: File # or FastFile, Pipe
{"".join(_hyperparameters(asked.built))}{given}OutputDataConfig:
  S3OutputPath: ./smlocal-output # what the container leaves in /opt/ml/model becomes model.tar.gz here
ResourceConfig:
  InstanceType: ml.m5.large
  InstanceCount: 1
  VolumeSizeInGB: 30
StoppingCondition:
  MaxRuntimeInSeconds: 3600
# Local: # settings of this machine, which the service does not know
#   EnforceInstanceLimits: true # as much memory and as many processors as the instance type has
"""


def _start(built: BuiltImage | None) -> Iterator[str]:
    if built is None or not (built.entrypoint or built.toolkit):
        yield "The container is started as `docker run IMAGE train`: it needs a program `train`, or an ENTRYPOINT."
    elif built.entrypoint and not built.entrypoint.startswith("["):
        yield "ENTRYPOINT is in shell form: the program never gets the argument train. Write it as a JSON list:"
        yield comment(built.entrypoint)
    elif built.entrypoint:
        yield f"The container runs its ENTRYPOINT with the argument train: {comment(built.entrypoint)}"
    else:
        yield "The SageMaker training toolkit is in this image: it provides `train`, which starts a script of yours."


def _hyperparameters(built: BuiltImage | None) -> Iterator[str]:
    yield '# HyperParameters: # strings, in /opt/ml/input/config/hyperparameters.json\n#   epochs: "3"\n'
    if built is None or not built.toolkit:
        return
    if built.program:
        yield f"# The toolkit starts {comment(built.program)} (SAGEMAKER_PROGRAM) from /opt/ml/code.\n"
    else:
        yield "# The toolkit needs the name of your script: SAGEMAKER_PROGRAM in the image, or a hyperparameter:\n"
        yield "#   sagemaker_program: '\"train.py\"'\n"
        yield "# Local.Code: ./src puts your folder in /opt/ml/code.\n"
