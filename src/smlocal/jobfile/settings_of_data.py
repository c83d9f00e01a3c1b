"""Settings of what a job reads and writes: where it is, how it gets into the containers, and under whose name."""

from typing import Annotated, Final, Literal

from smlocal.jobfile.option import Form, Head, NotEmpty, Option, Values, setting
from smlocal.terms.model.structure import Items, Structure, Whole
from smlocal.terms.rights import Rights


class LocationSettings(Structure):
    """Where the job finds data, and where it may look."""

    Sources: Annotated[dict[NotEmpty, NotEmpty], Items()] = setting(
        default_factory=dict,
        description="Local folder for each s3:// prefix or file-system id.",
        option=Option(
            keyword="sources",
            flags=("--source",),
            form=Form.MAP,
            values=Values.PATH,
            example='sources={"s3://bucket/prefix": "./data"}',
            metavar="PREFIX=DIR",
            help="Local folder that stands for an s3:// prefix; repeatable.",
            submitted=True,
            head=Head.DATA,
        ),
        by_clients=True,
    )
    AllowedPaths: Annotated[list[NotEmpty], Items(minimum=0, maximum=1000)] | None = setting(
        default=None,
        description="Absolute folders that must contain the job's local paths, including those in manifests; links "
        "below them are not followed. smlocal serve sets it for jobs of its clients. Default: all.",
    )
    AllowedBuckets: Annotated[list[NotEmpty], Items(minimum=0, maximum=1000)] | None = setting(
        default=None,
        description="S3 buckets (names, or ARNs of access points) that the job may use with your AWS credentials. "
        "smlocal serve sets it for jobs of its clients. Default: all.",
    )

    @property
    def rights(self) -> Rights:
        """The rights of the job on this machine."""
        return Rights(
            folders=None if self.AllowedPaths is None else tuple(self.AllowedPaths),
            buckets=None if self.AllowedBuckets is None else tuple(self.AllowedBuckets),
        )


class OutputSettings(Structure):
    """Where artifacts and checkpoints go."""

    Output: NotEmpty | None = setting(
        default=None,
        description="Local folder for artifacts if S3OutputPath is an s3:// location. Default: ./smlocal-output.",
        option=Option(
            keyword="output",
            flags=("--output", "-o"),
            form=Form.PATH,
            example='output="./out"',
            metavar="DIR",
            help="Where artifacts go: DIR/<job>/output/model.tar.gz.",
            head=Head.RESULT,
            common=True,
        ),
        by_clients=True,
    )
    Publish: bool = setting(
        default=False,
        description="Upload artifacts, checkpoints, TensorBoard logs and tensors to their s3:// locations.",
        option=Option(
            keyword="publish",
            form=Form.SWITCH,
            help="Upload artifacts and mirror checkpoints to their s3:// locations.",
            head=Head.RESULT,
        ),
    )


class CacheSettings(Structure):
    """Which downloads are kept."""

    Cache: bool = setting(default=True, description="Keep downloads from S3 for later runs.", by_clients=True)
    CacheGiB: Annotated[int, Whole(minimum=1, maximum=1_000_000)] = setting(
        default=20,
        description="Size limit of the downloads that are kept. The least recently used are removed first.",
    )


class CredentialSettings(Structure):
    """The rights of the containers in AWS."""

    Credentials: Literal["none", "inherit", "role"] = setting(
        default="none",
        description="AWS credentials for the containers: none, inherit (yours) or role (those of RoleArn).",
        option=Option(
            keyword="credentials", help="AWS credentials for the containers. Default: none.", head=Head.MACHINE
        ),
    )


CREDENTIALS: Final = (
    Option(
        keyword="role",
        place=("RoleArn",),
        metavar="ARN",
        help="RoleArn; only recorded, except with --credentials role.",
        submitted=False,
        head=Head.JOB,
    ),
)


class InputSettings(Structure):
    """The content of the input folders of the containers, and how it gets there."""

    Sample: Annotated[int, Whole(minimum=1, maximum=1_000_000_000)] | None = setting(
        default=None,
        description="Use only this many objects of each channel, the first ones. Default: all.",
        by_clients=True,
    )
    Code: NotEmpty | None = setting(
        default=None,
        description="Folder for /opt/ml/code, copy-on-write, so that AWS's training toolkit does not fetch its code "
        "from S3.",
        option=Option(
            keyword="code",
            form=Form.PATH,
            example='code="./src"',
            metavar="DIR",
            help="Folder for /opt/ml/code, copy-on-write.",
            head=Head.DATA,
            common=True,
        ),
        by_clients=True,
    )
    Staging: Literal["overlay", "copy"] | None = setting(
        default=None,
        description="How channels get into the container: overlay (copy-on-write) or copy. Default: overlay; copy if "
        "overlays are not possible or the engine is rootless.",
        option=Option(
            keyword="staging",
            help="How channel data gets into the container. Default: the fastest way that works.",
            head=Head.DATA,
        ),
        by_clients=True,
    )


INPUT: Final = (
    Option(
        keyword="channels",
        place=("InputDataConfig",),
        flags=("--channel",),
        form=Form.MAP,
        values=Values.PATH,
        example='channels={"training": "./data"}',
        metavar="NAME=PATH",
        help="Data of an input channel: a path or an s3:// URI; repeatable.",
        head=Head.DATA,
        common=True,
    ),
    Option(
        keyword="inputs",
        place=("ProcessingInputs",),
        flags=("--input",),
        form=Form.MAP,
        example='inputs={"data": "./data:/opt/ml/processing/input"}',
        metavar="NAME=PATH[:FOLDER]",
        help="Input of a processing job, and its folder in the container; repeatable.",
        head=Head.DATA,
    ),
    Option(
        keyword="processing_outputs",
        place=("ProcessingOutputConfig", "Outputs"),
        flags=("--processing-output",),
        form=Form.MAP,
        example='processing_outputs={"train": "/opt/ml/processing/train:./train"}',
        metavar="NAME=FOLDER:DIR",
        help="Output of a processing job: its folder in the container, and where it goes; repeatable.",
        head=Head.DATA,
    ),
    Option(
        keyword="input_mode",
        place=("AlgorithmSpecification", "TrainingInputMode"),
        metavar="MODE",
        help="TrainingInputMode: File, Pipe or FastFile.",
        default="File",
        head=Head.DATA,
    ),
    Option(
        keyword="hyperparameters",
        place=("HyperParameters",),
        flags=("--hyperparameter", "-p", "--parameter"),
        form=Form.MAP,
        values=Values.PLAIN,
        written=str,
        example='hyperparameters={"epochs": 3}',
        metavar="KEY=VALUE",
        help="Hyperparameter, or parameter of a pipeline; repeatable.",
        head=Head.JOB,
        common=True,
    ),
    Option(
        keyword="environment",
        place=("Environment",),
        flags=("--env", "-e"),
        form=Form.MAP,
        example='environment={"NAME": "value"}',
        metavar="KEY[=VALUE]",
        help="Environment variable; KEY without a value is read from your environment; repeatable.",
        head=Head.JOB,
        common=True,
    ),
)
