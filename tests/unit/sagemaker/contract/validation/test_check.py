"""Each constraint at its bound and beyond it, and the service's own words for it."""

from typing import Any

import pytest

from smlocal.errors import RequestInvalidError
from smlocal.jobfile.reading import load_document
from smlocal.sagemaker.jobfile.job_file import read_job

AT = "at '{}' failed to satisfy constraint: Member must"
S3_PATTERN = "satisfy regular expression pattern: (https|s3)://([^/]+)/?(.*)"


def longest(number: int) -> str:
    return f"have length less than or equal to {number}"


def shortest(number: int) -> str:
    return f"have length greater than or equal to {number}"


def most(number: int) -> str:
    return f"have value less than or equal to {number}"


def least(number: int) -> str:
    return f"have value greater than or equal to {number}"


def pattern(text: str) -> str:
    return f"satisfy regular expression pattern: {text}"


def one_of(*names: str) -> str:
    return f"satisfy enum value set: [{', '.join(names)}]"


NAME = "[a-zA-Z0-9](-*[a-zA-Z0-9]){0,62}"
ROLE = "arn:aws:iam::123456789012:role/"
ROLE_PATTERN = r"arn:aws[a-z\-]*:iam::\d{12}:role/?[a-zA-Z_0-9+=,.@\-_/]+"
MODES = one_of("Pipe", "File", "FastFile")
CHANNEL = "InputDataConfig[]."
S3 = "InputDataConfig[].DataSource.S3DataSource."
FILE_SYSTEM = "InputDataConfig[].DataSource.FileSystemDataSource."
ALGORITHM = "AlgorithmSpecification."
RESOURCES = "ResourceConfig."
STOPPING = "StoppingCondition."
PENDING = "MaxPendingTimeInSeconds"

# Member, a value at the bound, a value beyond it, the place and the constraint as the service words them.
ROWS: list[tuple[str, Any, Any, str, str]] = [
    ("TrainingJobName", "a" * 63, "a" * 64, "trainingJobName", longest(63)),
    ("TrainingJobName", "a--b", "a-", "trainingJobName", pattern(NAME)),
    ("TrainingJobName", "a-b", "a_b", "trainingJobName", pattern(NAME)),
    ("TrainingJobName", "a1", "a.1", "trainingJobName", pattern(NAME)),
    ("TrainingJobName", "a", "", "trainingJobName", shortest(1)),
    ("InputDataConfig[].ChannelName", "c" * 64, "c" * 65, "inputDataConfig.1.member.channelName", longest(64)),
    (
        "InputDataConfig[].ChannelName",
        "A.b-c_1",
        "a/b",
        "inputDataConfig.1.member.channelName",
        pattern(r"[A-Za-z0-9\.\-_]+"),
    ),
    (S3 + "S3Uri", "s3://" + "b" * 1019, "s3://" + "b" * 1020, "{s3}.s3Uri", longest(1024)),
    (S3 + "S3Uri", "s3://b", "s3://", "{s3}.s3Uri", S3_PATTERN),
    (S3 + "S3Uri", "https://host/a", "ftp://host/a", "{s3}.s3Uri", S3_PATTERN),
    (
        S3 + "S3DataType",
        "Converse",
        "s3prefix",
        "{s3}.s3DataType",
        one_of("ManifestFile", "S3Prefix", "AugmentedManifestFile", "Converse"),
    ),
    (
        S3 + "S3DataDistributionType",
        "FullyReplicated",
        "Sharded",
        "{s3}.s3DataDistributionType",
        one_of("FullyReplicated", "ShardedByS3Key"),
    ),
    (CHANNEL + "ContentType", "t" * 256, "t" * 257, "{channel}.contentType", longest(256)),
    (CHANNEL + "CompressionType", "None", "Zip", "{channel}.compressionType", one_of("None", "Gzip")),
    (CHANNEL + "RecordWrapperType", "None", "none", "{channel}.recordWrapperType", one_of("None", "RecordIO")),
    (CHANNEL + "InputMode", "File", "Fast", "{channel}.inputMode", MODES),
    (ALGORITHM + "TrainingInputMode", "File", "file", "algorithmSpecification.trainingInputMode", MODES),
    (ALGORITHM + "TrainingImage", "i" * 255, "i" * 256, "algorithmSpecification.trainingImage", longest(255)),
    (
        ALGORITHM + "ContainerEntrypoint",
        ["e"] * 100,
        ["e"] * 101,
        "algorithmSpecification.containerEntrypoint",
        longest(100),
    ),
    (ALGORITHM + "ContainerArguments", ["e"], [], "algorithmSpecification.containerArguments", shortest(1)),
    (
        ALGORITHM + "MetricDefinitions",
        [{"Name": "n", "Regex": "(r)"}] * 40,
        [{"Name": "n", "Regex": "(r)"}] * 41,
        "algorithmSpecification.metricDefinitions",
        longest(40),
    ),
    (ALGORITHM + "MetricDefinitions[].Name", "n" * 255, "n" * 256, "{metric}.name", longest(255)),
    (ALGORITHM + "MetricDefinitions[].Regex", f"({'r' * 498})", f"({'r' * 499})", "{metric}.regex", longest(500)),
    (ALGORITHM + "MetricDefinitions[].Regex", "()", "", "{metric}.regex", shortest(1)),
    ("RoleArn", ROLE + "r" * (2048 - len(ROLE)), ROLE + "r" * (2049 - len(ROLE)), "roleArn", longest(2048)),
    ("RoleArn", ROLE + "r", "role-of-mine-with-no-arn", "roleArn", pattern(ROLE_PATTERN)),
    ("RoleArn", ROLE + "path/r", "arn:aws:iam::12345678901:role/r", "roleArn", pattern(ROLE_PATTERN)),
    (RESOURCES + "InstanceCount", 1, -1, "resourceConfig.instanceCount", least(0)),
    (RESOURCES + "InstanceCount", 32, 2**31, "resourceConfig.instanceCount", most(2**31 - 1)),
    (RESOURCES + "VolumeSizeInGB", 0, -1, "resourceConfig.volumeSizeInGB", least(0)),
    (RESOURCES + "KeepAlivePeriodInSeconds", 21600, 21601, "resourceConfig.keepAlivePeriodInSeconds", most(21600)),
    (STOPPING + "MaxRuntimeInSeconds", 1, 0, "stoppingCondition.maxRuntimeInSeconds", least(1)),
    (STOPPING + PENDING, 1800, 1799, "stoppingCondition.maxPendingTimeInSeconds", least(1800)),
    (STOPPING + PENDING, 2_419_200, 2_419_201, "stoppingCondition.maxPendingTimeInSeconds", most(2_419_200)),
    ("OutputDataConfig.CompressionType", "NONE", "None", "outputDataConfig.compressionType", one_of("GZIP", "NONE")),
    ("OutputDataConfig.KmsKeyId", "k" * 2048, "k" * 2049, "outputDataConfig.kmsKeyId", longest(2048)),
    ("OutputDataConfig.S3OutputPath", "s3://bucket", "s3:bucket", "outputDataConfig.s3OutputPath", S3_PATTERN),
    ("VpcConfig.SecurityGroupIds", ["a"] * 5, ["a"] * 6, "vpcConfig.securityGroupIds", longest(5)),
    ("VpcConfig.Subnets", ["a"] * 16, ["a"] * 17, "vpcConfig.subnets", longest(16)),
    ("Tags[].Key", "k" * 128, "k" * 129, "tags.1.member.key", longest(128)),
    ("Tags[].Key", "k", "", "tags.1.member.key", shortest(1)),
    ("Tags[].Value", "", "v" * 257, "tags.1.member.value", longest(256)),
    ("Tags[].Value", "v w", "a*b", "tags.1.member.value", pattern(r"([\p{L}\p{Z}\p{N}_.:/=+\-@]*)")),
    (
        "HyperParameters",
        {str(n): "v" for n in range(100)},
        {str(n): "v" for n in range(101)},
        "hyperParameters",
        longest(100),
    ),
    (
        "Environment",
        {f"K{n}": "v" for n in range(100)},
        {f"K{n}": "v" for n in range(101)},
        "environment",
        longest(100),
    ),
    ("CheckpointConfig.LocalPath", "p" * 4096, "p" * 4097, "checkpointConfig.localPath", longest(4096)),
    ("TensorBoardOutputConfig.LocalPath", "p" * 4096, "p" * 4097, "tensorBoardOutputConfig.localPath", longest(4096)),
    ("RetryStrategy.MaximumRetryAttempts", 30, 31, "retryStrategy.maximumRetryAttempts", most(30)),
    ("RetryStrategy.MaximumRetryAttempts", 1, 0, "retryStrategy.maximumRetryAttempts", least(1)),
    ("StoppingCondition.MaxWaitTimeInSeconds", 86_400, 0, "stoppingCondition.maxWaitTimeInSeconds", least(1)),
]
ROWS += [
    (FILE_SYSTEM + "FileSystemId", "fs-" + "0" * 18, "fs-" + "0" * 19, "{files}.fileSystemId", longest(21)),
    (FILE_SYSTEM + "FileSystemId", "fs-01234567", "fs-0123456", "{files}.fileSystemId", shortest(11)),
    (FILE_SYSTEM + "FileSystemId", "fs-01234567", "fs-0123456X", "{files}.fileSystemId", pattern("(fs-[0-9a-f]{8,})")),
    (FILE_SYSTEM + "FileSystemAccessMode", "ro", "r", "{files}.fileSystemAccessMode", one_of("rw", "ro")),
    (FILE_SYSTEM + "FileSystemType", "EFS", "NFS", "{files}.fileSystemType", one_of("EFS", "FSxLustre")),
    (FILE_SYSTEM + "DirectoryPath", "p" * 4096, "p" * 4097, "{files}.directoryPath", longest(4096)),
    (S3 + "AttributeNames", ["a"] * 16, ["a"] * 17, "{s3}.attributeNames", longest(16)),
    (S3 + "InstanceGroupNames", ["abc"] * 5, ["abc"] * 6, "{s3}.instanceGroupNames", longest(5)),
]
PLACES = {
    "s3": "inputDataConfig.1.member.dataSource.s3DataSource",
    "files": "inputDataConfig.1.member.dataSource.fileSystemDataSource",
    "channel": "inputDataConfig.1.member",
    "metric": "algorithmSpecification.metricDefinitions.1.member",
}


def _refused(read: Any, request: dict[str, Any], place: str, constraint: str) -> None:
    with pytest.raises(RequestInvalidError) as caught:
        read(request)
    expected = f"{AT.format(place.format(**PLACES))} {constraint}"
    assert expected in caught.value.service_message
    assert any(expected in detail for detail in caught.value.details)
    assert caught.value.exit_code == 2


@pytest.mark.parametrize(("member", "good", "bad", "place", "constraint"), ROWS)
def test_a_constraint(
    request_with: Any, read: Any, member: str, good: Any, bad: Any, place: str, constraint: str
) -> None:
    read(request_with(member, good))
    _refused(read, request_with(member, bad), place, constraint)


PARTS = [
    ("HyperParameters", {"k" * 256: "v"}, {"k" * 257: "v"}, "hyperParameters", "Map keys", 256, 0, ".*"),
    ("HyperParameters", {"k": "v" * 2500}, {"k": "v" * 2501}, "hyperParameters", "Map value", 2500, 0, ".*"),
    ("HyperParameters", {"k": "a b"}, {"k": "a\nb"}, "hyperParameters", "Map value", 2500, 0, ".*"),
    ("Environment", {"K" * 512: "v"}, {"K" * 513: "v"}, "environment", "Map keys", 512, 0, "[a-zA-Z_][a-zA-Z0-9_]*"),
    ("Environment", {"_K1": "v"}, {"1K": "v"}, "environment", "Map keys", 512, 0, "[a-zA-Z_][a-zA-Z0-9_]*"),
    ("Environment", {"K": "\n" * 512}, {"K": "v" * 513}, "environment", "Map value", 512, 0, r"[\S\s]*"),
    ("VpcConfig.Subnets", ["s" * 32], ["s", "s" * 33], "vpcConfig.subnets", "Member", 32, 0, "[-0-9a-zA-Z]+"),
    (
        "AlgorithmSpecification.ContainerArguments",
        ["a" * 256],
        ["a" * 257],
        "algorithmSpecification.containerArguments",
        "Member",
        256,
        0,
        ".*",
    ),
]


@pytest.mark.parametrize(("member", "good", "bad", "place", "what", "most_", "least_", "expression"), PARTS)
def test_a_part_of_a_list_or_map_is_blamed_on_the_whole(
    request_with: Any,
    read: Any,
    member: str,
    good: Any,
    bad: Any,
    place: str,
    what: str,
    most_: int,
    least_: int,
    expression: str,
) -> None:
    read(request_with(member, good))
    with pytest.raises(RequestInvalidError) as caught:
        read(request_with(member, bad))
    demands = f"Member must {longest(most_)}, Member must {shortest(least_)}, Member must {pattern(expression)}"
    expected = f"at '{place}' failed to satisfy constraint: {what} must satisfy constraint: [{demands}]"
    assert caught.value.service_message.startswith("1 validation error detected: Value ")
    assert caught.value.service_message.endswith(expected)


def problems(text: str, *, strict: bool = False) -> RequestInvalidError:
    with pytest.raises(RequestInvalidError) as caught:
        read_job(load_document(text, name="job.yaml", directory="/"), strict=strict)
    return caught.value


GOOD = """\
AlgorithmSpecification: {TrainingImage: image, TrainingInputMode: File}
OutputDataConfig: {S3OutputPath: ./out}
ResourceConfig: {InstanceType: ml.m5.large, InstanceCount: 1}
"""


def test_the_whole_message_of_the_service() -> None:
    error = problems(GOOD + "TrainingJobName: my_job\nVpcConfig: {SecurityGroupIds: [], Subnets: [a]}\n")
    assert error.service_message == (
        "2 validation errors detected: Value 'my_job' at 'trainingJobName' failed to satisfy constraint: Member must "
        "satisfy regular expression pattern: [a-zA-Z0-9](-*[a-zA-Z0-9]){0,62}; Value '[]' at "
        "'vpcConfig.securityGroupIds' failed to satisfy constraint: Member must have length greater than or equal to 1"
    )
    assert error.sentence == "2 problems in job.yaml"
    assert error.id == "request-invalid"


def test_everything_is_told_at_once_with_its_line() -> None:
    text = """\
TrainingJobName: my_job
HyperParamters: {a: b}
AlgorithmSpecification:
  TrainingImage: image
  TrainingInputMode: fastfile
OutputDataConfig:
  CompressionType: gzip
ResourceConfig:
  InstanceType: ml.m5.larg
  InstanceCount: 1
InputDataConfig:
- ChannelName: train
  InputMode: Fast
  DataSource:
    S3DataSource: {S3Uri: ./data, S3DataType: S3prefix}
- ChannelName: train
  DataSource: {}
"""
    lines = problems(text).details
    expected = [
        (
            "job.yaml:1 ",
            "Value 'my_job' at 'trainingJobName' failed to satisfy constraint: Member must satisfy regular",
        ),
        ("job.yaml:2 ", "unknown key HyperParamters: did you mean HyperParameters?"),
        ("job.yaml:5 ", "enum value set: [Pipe, File, FastFile] - did you mean FastFile?"),
        (
            "job.yaml:6 ",
            "Value null at 'outputDataConfig.s3OutputPath' failed to satisfy constraint: Member must not be",
        ),
        ("job.yaml:7 ", "Value 'gzip' at 'outputDataConfig.compressionType' failed"),
        ("job.yaml:9 ", "more] - did you mean ml.m5.large?"),
        (
            "job.yaml:13",
            "Value 'Fast' at 'inputDataConfig.1.member.inputMode' failed to satisfy constraint: Member must",
        ),
        ("job.yaml:15", "'inputDataConfig.1.member.dataSource.s3DataSource.s3DataType'"),
        (
            "job.yaml:16",
            "InputDataConfig.2.member.ChannelName: 'train' is already the name of InputDataConfig.1.member",
        ),
        (
            "job.yaml:17",
            "InputDataConfig.2.member.DataSource: give exactly one of S3DataSource, FileSystemDataSource, ",
        ),
    ]
    assert len(lines) == len(expected)
    for line, (where, words) in zip(lines, expected, strict=True):
        assert line.startswith(where)
        assert words in line


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("HyperParameters: {epochs: 3}", 'HyperParameters.epochs is 3 (a number) and must be a string: quote it, "3"'),
        ("HyperParameters: {lr: 0.1}", 'HyperParameters.lr is 0.1 (a number) and must be a string: quote it, "0.1"'),
        (
            "HyperParameters: {on: true}",
            'HyperParameters.on is true (a boolean) and must be a string: quote it, "true"',
        ),
        ("HyperParameters: {a: {b: c}}", "HyperParameters.a is {b=c} (a map) and must be a string: quote it as JSON"),
        ("HyperParameters: {a: [1, 2]}", "HyperParameters.a is [1, 2] (a list) and must be a string: quote it as JSON"),
        ("HyperParameters: {a: }", "HyperParameters.a is null and must be a string"),
        ("HyperParameters: [a]", "HyperParameters is [a] (a list) and must be a map"),
        ("Environment: {A: 1}", 'Environment.A is 1 (a number) and must be a string: quote it, "1"'),
        (
            "EnableNetworkIsolation: yes",
            'EnableNetworkIsolation is "yes" (a string) and must be true or false: write true',
        ),
        ("InputDataConfig: {ChannelName: a}", "and must be a list: put it in a list"),
        ("InputDataConfig: [a]", 'InputDataConfig.1.member is "a" (a string) and must be a map'),
        (
            "StoppingCondition: {MaxRuntimeInSeconds: '60'}",
            'is "60" (a string) and must be a whole number: write it with',
        ),
        ("StoppingCondition: {MaxRuntimeInSeconds: 1.5}", "is 1.5 (a number) and must be a whole number"),
        ("StoppingCondition: {MaxRuntimeInSeconds: true}", "is true (a boolean) and must be a whole number"),
        ("VolumeSizeInGB: 30", "unknown key VolumeSizeInGB: it belongs in ResourceConfig"),
        ("hyperparameters: {}", "unknown key hyperparameters: did you mean HyperParameters?"),
        ("local: {}", "unknown key local: did you mean Local?"),
        ("Xyzzy: {}", "unknown key Xyzzy (known here: TrainingJobName, HyperParameters,"),
        (
            "StoppingCondition: {MaxRuntime: 1}",
            "unknown key StoppingCondition.MaxRuntime: did you mean MaxRuntimeInSec",
        ),
        ("Local: {Pull: Never}", "at 'Local.Pull' failed to satisfy constraint: Member must satisfy enum value set: "),
        ("Local: {Pull: Never}", "did you mean never?"),
        ("Local: {Source: {}}", "unknown key Local.Source: did you mean Sources?"),
        (
            "Local: {PeerGraceSeconds: 121}",
            "at 'Local.PeerGraceSeconds' failed to satisfy constraint: Member must have",
        ),
        ("Local: {StopGraceSeconds: -1}", "Member must have value greater than or equal to 0"),
        ("Local: {AllowCpu: }", "Value null at 'Local.AllowCpu' failed to satisfy constraint: Member must not be null"),
        ("Local: []", "Local is [] (a list) and must be a map"),
    ],
)
def test_bad_input(text: str, words: str) -> None:
    error = problems(f"{GOOD}{text}\n")
    assert len(error.details) == 1
    assert error.details[0].startswith("job.yaml:4 ")
    assert words in error.details[0]


def test_a_word_is_no_number_without_its_quotes_either() -> None:
    (said,) = problems(f"{GOOD}StoppingCondition: {{MaxRuntimeInSeconds: many}}\n").details
    assert said.endswith('StoppingCondition.MaxRuntimeInSeconds is "many" (a string) and must be a whole number')


def test_settings_of_ours_are_not_in_the_services_message() -> None:
    assert not problems(GOOD + "Local: {PeerGraceSeconds: 121}").service_message


def test_a_line_for_the_screen_is_one_line_and_short() -> None:
    error = problems(GOOD + 'HyperParameters: {a: "x\\ny", b: "' + "z" * 2500 + '"}')
    (line,) = error.details
    assert "\n" not in line
    assert len(line) < 500
    assert "a is 'x\\ny'" in line
    assert "z" * 2500 in error.service_message


FROM_X = "DataSource: {S3DataSource: {S3Uri: x, S3DataType: S3Prefix}}"
RULES = [
    (
        "AlgorithmSpecification: {TrainingInputMode: File}",
        "AlgorithmSpecification: TrainingImage (or AlgorithmName) is required",
    ),
    (
        "AlgorithmSpecification: {TrainingInputMode: File, TrainingImage: a, AlgorithmName: b}",
        "AlgorithmSpecification.AlgorithmName: give TrainingImage or AlgorithmName, not both",
    ),
    (
        "AlgorithmSpecification: ",
        "Value null at 'algorithmSpecification' failed to satisfy constraint: Member must not",
    ),
    ("ResourceConfig: ", "Value null at 'resourceConfig' failed to satisfy constraint: Member must not be null"),
    ("ResourceConfig: {InstanceType: ml.m5.large}", "Value null at 'resourceConfig.instanceCount' failed"),
    ("ResourceConfig: {InstanceCount: 1}", "Value null at 'resourceConfig.instanceType' failed"),
    (
        "ResourceConfig: {InstanceType: ml.m5.large, InstanceCount: 0}",
        "ResourceConfig.InstanceCount: must be at least 1",
    ),
    (
        (
            "ResourceConfig: {InstanceCount: 1, InstanceGroups: [{InstanceType: ml.m5.large, InstanceCount: 1, "
            "InstanceGroupName: g}]}"
        ),
        "ResourceConfig.InstanceCount: cannot be used with InstanceGroups",
    ),
    (
        "ResourceConfig: {InstanceGroups: [{InstanceGroupName: a}], InstancePreferences: [{InstanceType: b}]}",
        "ResourceConfig.InstancePreferences: cannot be used with InstanceGroups",
    ),
    (
        "ResourceConfig: {InstanceType: a, InstanceCount: 1, InstancePreferences: [{InstanceType: b}]}",
        "ResourceConfig.InstanceType: cannot be used with InstancePreferences",
    ),
    (
        "ResourceConfig: {InstancePlacementConfig: {}, InstanceCount: 1, InstancePreferences: [{InstanceType: a}]}",
        "ResourceConfig.InstancePlacementConfig: cannot be used with InstancePreferences",
    ),
    (
        "ResourceConfig: {InstanceCount: 1, InstancePreferences: [{InstanceType: a}]}\nEnableManagedSpotTraining: true",
        "ResourceConfig.InstancePreferences: cannot be used with EnableManagedSpotTraining",
    ),
    (
        "ResourceConfig: {InstanceCount: 1, InstancePreferences: [{InstanceType: a}, {InstanceType: a}]}",
        "ResourceConfig.InstancePreferences.2.member.InstanceType: 'a' is in the list twice",
    ),
    (
        "ResourceConfig: {InstancePreferences: [{InstanceType: a, InstanceCount: 1}, {InstanceType: b}]}",
        "InstancePreferences.2.member.InstanceCount: is required in every preference, or in ResourceConfig instead",
    ),
    (
        "ResourceConfig: {InstancePreferences: [{InstanceType: a}]}",
        "InstancePreferences.1.member.InstanceCount: is required in every preference, or in ResourceConfig instead",
    ),
    (
        "ResourceConfig: {InstanceCount: 1, InstancePreferences: [{InstanceType: a, InstanceCount: 1}]}",
        "InstancePreferences.1.member.InstanceCount: give it in ResourceConfig or in every preference, not in both",
    ),
    (
        "ResourceConfig: {InstancePreferences: [{InstanceType: a, InstanceCount: 0}]}",
        "InstancePreferences.1.member.InstanceCount: must be at least 1",
    ),
    (
        (
            "ResourceConfig: {TrainingPlanArn: x, InstanceCount: 1, "
            "InstancePreferences: [{InstanceType: a, TrainingPlanArns: [x]}]}"
        ),
        "InstancePreferences.1.member.TrainingPlanArns: cannot be used with ResourceConfig.TrainingPlanArn",
    ),
    (
        (
            "ResourceConfig: {InstanceType: a, InstanceCount: 1, KeepAlivePeriodInSeconds: 60}\n"
            "EnableManagedSpotTraining: true"
        ),
        "ResourceConfig.KeepAlivePeriodInSeconds: warm pools cannot be used with spot instances",
    ),
    (
        "ResourceConfig: {KeepAlivePeriodInSeconds: 60, InstanceGroups: [{InstanceGroupName: a}]}",
        "ResourceConfig.KeepAlivePeriodInSeconds: warm pools cannot be used with a heterogeneous cluster",
    ),
    ("InputDataConfig: [{ChannelName: a}]", "Value null at 'inputDataConfig.1.member.dataSource' failed"),
    (
        (
            "InputDataConfig: [{ChannelName: a, DataSource: {S3DataSource: {S3Uri: x, S3DataType: S3Prefix}, "
            "DatasetSource: {DatasetArn: x}}}]"
        ),
        "found S3DataSource and DatasetSource",
    ),
    (
        "InputDataConfig: [{ChannelName: a, DataSource: {S3DataSource: {S3Uri: x}}}]",
        "'inputDataConfig.1.member.dataSource.s3DataSource.s3DataType' failed to satisfy constraint: Member must not",
    ),
    (
        "InputDataConfig: [{DataSource: {S3DataSource: {S3Uri: x, S3DataType: AugmentedManifestFile}}}]",
        "AugmentedManifestFile can only be used in Pipe mode, and this channel's mode is File",
    ),
    (
        ("InputDataConfig: [{InputMode: FastFile, DataSource: {S3DataSource: {S3Uri: x, S3DataType: ManifestFile}}}]"),
        "ManifestFile cannot be used in FastFile mode",
    ),
    (
        ("InputDataConfig: [{CompressionType: Gzip, DataSource: {S3DataSource: {S3Uri: x, S3DataType: S3Prefix}}}]"),
        "InputDataConfig.1.member.CompressionType: Gzip is for Pipe mode only, and this channel's mode is File",
    ),
    (
        "InputDataConfig: [{RecordWrapperType: RecordIO, DataSource: {S3DataSource: {S3Uri: x}}}]",
        "InputDataConfig.1.member.RecordWrapperType: RecordIO is for Pipe mode only, and this channel's mode is File",
    ),
    (
        "InputDataConfig: [{InputMode: Pipe, DataSource: {S3DataSource: {S3DataType: AugmentedManifestFile}}}]",
        "AttributeNames: an augmented manifest requires the names of the attributes to send",
    ),
    (
        "InputDataConfig: [{DataSource: {S3DataSource: {S3DataType: S3Prefix, AttributeNames: [a]}}}]",
        "AttributeNames: is for an AugmentedManifestFile only",
    ),
    (
        "InputDataConfig: [{InputMode: Pipe, ChannelName: train}, {ChannelName: train_0}]",
        "InputDataConfig.2.member.ChannelName: 'train_0' is the name of a FIFO of the Pipe channel 'train'",
    ),
    (
        "InputDataConfig: [{DataSource: {S3DataSource: {InstanceGroupNames: [big]}}}]",
        "InstanceGroupNames.1.member: no instance group is called 'big': the job has no InstanceGroups",
    ),
    (
        (
            "ResourceConfig: {InstanceGroups: [{InstanceGroupName: big, InstanceCount: 1}]}\n"
            "InputDataConfig: [{DataSource: {S3DataSource: {InstanceGroupNames: [bog]}}}]"
        ),
        "no instance group is called 'bog': there are big",
    ),
    (
        "ResourceConfig: {InstanceGroups: [{InstanceGroupName: a}, {InstanceGroupName: a, InstanceCount: 0}]}",
        "InstanceGroups.2.member.InstanceGroupName: 'a' is already the name of ResourceConfig.InstanceGroups.1.member",
    ),
    (
        "ResourceConfig: {InstanceGroups: [{InstanceGroupName: a, InstanceCount: 0}]}",
        "ResourceConfig.InstanceGroups.1.member.InstanceCount: must be at least 1",
    ),
    (
        "InputDataConfig: [{InputMode: Pipe, DataSource: {FileSystemDataSource: {}}}]",
        "InputDataConfig.1.member: a file system can be read in File mode only",
    ),
    (
        "StoppingCondition: {MaxWaitTimeInSeconds: 10, MaxRuntimeInSeconds: 10}",
        "MaxWaitTimeInSeconds: is for managed spot training only",
    ),
    (
        "StoppingCondition: {MaxWaitTimeInSeconds: 9, MaxRuntimeInSeconds: 10}",
        "9 is less than MaxRuntimeInSeconds, 10; it must be equal or greater",
    ),
    *(
        (
            f"InputDataConfig: [{{ChannelName: {name}, {FROM_X}}}]",
            f"'{name}' cannot be the name of the channel's folder",
        )
        for name in (".", "..")
    ),
    (
        f"InputDataConfig: [{{ChannelName: a, {FROM_X}}}, {{ChannelName: a-manifest, {FROM_X}}}]",
        "InputDataConfig.2.member.ChannelName: 'a-manifest' is the name of the manifest of InputDataConfig.1.member",
    ),
    (
        f"InputDataConfig: [{{ChannelName: a-manifest, {FROM_X}}}, {{ChannelName: a, {FROM_X}}}]",
        "InputDataConfig.1.member.ChannelName: 'a-manifest' is the name of the manifest of InputDataConfig.2.member",
    ),
    (
        f"InputDataConfig: [{{ChannelName: checkpoints-manifest, {FROM_X}}}]\nCheckpointConfig: {{S3Uri: ./c}}",
        "'checkpoints-manifest' is the name of the manifest of the checkpoints",
    ),
    (
        f"InputDataConfig: [{{ChannelName: checkpoints, {FROM_X}}}]\nCheckpointConfig: {{S3Uri: ./c}}",
        "'checkpoints' is reserved for the service when CheckpointConfig is given",
    ),
    ('Environment: {A: "a\\0b"}', "Environment.A: contains a NUL character"),
    ('HyperParameters: {A: "a\\0b"}', "HyperParameters.A: contains a NUL character"),
    ('HyperParameters: {"a\\0b": A}', "contains a NUL character"),
    (
        'AlgorithmSpecification: {TrainingImage: i, TrainingInputMode: File, ContainerArguments: ["a\\0b"]}',
        "AlgorithmSpecification.ContainerArguments.1.member: contains a NUL character",
    ),
    ("Tags: [{Key: a, Value: b}, {Key: a, Value: c}]", "Tags.2.member.Key: 'a' is already the key of another tag"),
]


@pytest.mark.parametrize(("text", "words"), RULES)
def test_rules_between_members(text: str, words: str) -> None:
    name = text.partition(":")[0]
    rest = "".join(line for line in GOOD.splitlines(keepends=True) if not line.startswith(name))
    assert any(words in line for line in problems(f"{text}\n{rest}").details)


def test_channel_names_differ_by_case() -> None:
    source = "DataSource: {S3DataSource: {S3Uri: x, S3DataType: S3Prefix}}"
    text = f"{GOOD}InputDataConfig: [{{ChannelName: a, {source}}}, {{ChannelName: A, {source}}}]"
    job = read_job(load_document(text, name="job.yaml", directory="/"), strict=False)
    assert [channel.ChannelName for channel in job.request.InputDataConfig or ()] == ["a", "A"]


def test_too_many_channels(request_with: Any, read: Any) -> None:
    request = request_with("InputDataConfig[].ChannelName", "c")
    channels = [request["InputDataConfig"][0] | {"ChannelName": f"c{n}"} for n in range(21)]
    read(request | {"InputDataConfig": channels[:20]})
    _refused(read, request | {"InputDataConfig": channels}, "inputDataConfig", longest(20))
    _refused(read, request | {"InputDataConfig": []}, "inputDataConfig", shortest(1))


def test_too_many_tags(read: Any, request_with: Any) -> None:
    tags = [{"Key": str(n), "Value": ""} for n in range(51)]
    read(request_with(Tags=tags[:50]))
    _refused(read, request_with(Tags=tags), "tags", longest(50))


def test_a_mistake_and_a_refusal_are_told_together(read: Any, request_with: Any) -> None:
    with pytest.raises(RequestInvalidError) as caught:
        read(request_with("AlgorithmSpecification.AlgorithmName", "abc", TrainingJobName="a_b"))
    assert len(caught.value.details) == 2
    assert any("AlgorithmSpecification.AlgorithmName is refused" in detail for detail in caught.value.details)
