"""Strings, numbers, lists and maps of CreateTrainingJob.

Written by scripts/generate-models from botocore 1.44.8; do not edit.
"""

from typing import Annotated, Literal

from smlocal.terms.model.structure import Items, OrHere, Text, Whole

TrainingJobName = Annotated[str, Text(minimum=1, maximum=63, pattern="[a-zA-Z0-9](-*[a-zA-Z0-9]){0,62}")]
HyperParameterKey = Annotated[str, Text(minimum=0, maximum=256, pattern=".*")]
HyperParameterValue = Annotated[str, Text(minimum=0, maximum=2500, pattern=".*")]
HyperParameters = Annotated[dict[HyperParameterKey, HyperParameterValue], Items(minimum=0, maximum=100)]
AlgorithmImage = Annotated[str, Text(minimum=0, maximum=255, pattern=".*")]
ArnOrName = Annotated[
    str,
    Text(
        minimum=1,
        maximum=170,
        pattern="(arn:aws[a-z\\-]*:sagemaker:[a-z0-9\\-]*:[0-9]{12}:[a-z\\-]*\\/)?([a-zA-Z0-9]([a-zA-Z0-9-]){0,62})(?<!-)",
    ),
]
TrainingInputMode = Literal["Pipe", "File", "FastFile"]
MetricName = Annotated[str, Text(minimum=1, maximum=255, pattern=".+")]
MetricRegex = Annotated[str, Text(minimum=1, maximum=500, pattern=".+")]
Boolean = bool
TrainingContainerEntrypointString = Annotated[str, Text(minimum=0, maximum=256, pattern=".*")]
TrainingContainerEntrypoint = Annotated[list[TrainingContainerEntrypointString], Items(minimum=1, maximum=100)]
TrainingContainerArgument = Annotated[str, Text(minimum=0, maximum=256, pattern=".*")]
TrainingContainerArguments = Annotated[list[TrainingContainerArgument], Items(minimum=1, maximum=100)]
TrainingRepositoryAccessMode = Literal["Platform", "Vpc"]
TrainingRepositoryCredentialsProviderArn = Annotated[
    str, Text(minimum=1, maximum=2048, pattern="arn:[\\p{Alnum}\\-]+:lambda:[\\p{Alnum}\\-]+:[0-9]{12}:function:.*")
]
RoleArn = Annotated[
    str, Text(minimum=20, maximum=2048, pattern="arn:aws[a-z\\-]*:iam::\\d{12}:role/?[a-zA-Z_0-9+=,.@\\-_/]+")
]
ChannelName = Annotated[str, Text(minimum=1, maximum=64, pattern="[A-Za-z0-9\\.\\-_]+")]
S3DataType = Literal["ManifestFile", "S3Prefix", "AugmentedManifestFile", "Converse"]
S3Uri = Annotated[str, Text(minimum=0, maximum=1024, pattern="(https|s3)://([^/]+)/?(.*)", or_path=True)]
S3DataDistribution = Literal["FullyReplicated", "ShardedByS3Key"]
AttributeName = Annotated[str, Text(minimum=1, maximum=256, pattern=".+")]
AttributeNames = Annotated[list[AttributeName], Items(minimum=0, maximum=16)]
InstanceGroupName = Annotated[str, Text(minimum=1, maximum=64, pattern=".+")]
InstanceGroupNames = Annotated[list[InstanceGroupName], Items(minimum=0, maximum=5)]
AcceptEula = bool
HubContentArn = Annotated[str, Text(minimum=0, maximum=255, pattern=".*")]
FileSystemId = Annotated[str, Text(minimum=11, maximum=21, pattern="(fs-[0-9a-f]{8,})")]
FileSystemAccessMode = Literal["rw", "ro"]
FileSystemType = Literal["EFS", "FSxLustre"]
DirectoryPath = Annotated[str, Text(minimum=0, maximum=4096, pattern=".*")]
HubDataSetArn = Annotated[
    str,
    Text(
        minimum=0,
        maximum=2048,
        pattern="(arn:[a-z0-9-\\.]{1,63}:sagemaker:\\w+(?:-\\w+)+:(\\d{12}|aws):hub-content\\/)[a-zA-Z0-9](-*[a-zA-Z0-9]){0,62}\\/DataSet\\/[a-zA-Z0-9](-*[a-zA-Z0-9]){0,63}(\\/\\d{1,4}.\\d{1,4}.\\d{1,4})?",
    ),
]
ContentType = Annotated[str, Text(minimum=0, maximum=256, pattern=".*")]
CompressionType = Literal["None", "Gzip"]
RecordWrapper = Literal["None", "RecordIO"]
Seed = Annotated[int, Whole(long=True)]
KmsKeyId = Annotated[str, Text(minimum=0, maximum=2048, pattern="[a-zA-Z0-9:/_-]*")]
OutputCompressionType = Literal["GZIP", "NONE"]
TrainingInstanceType = Annotated[
    Literal[
        "ml.m4.xlarge",
        "ml.m4.2xlarge",
        "ml.m4.4xlarge",
        "ml.m4.10xlarge",
        "ml.m4.16xlarge",
        "ml.g4dn.xlarge",
        "ml.g4dn.2xlarge",
        "ml.g4dn.4xlarge",
        "ml.g4dn.8xlarge",
        "ml.g4dn.12xlarge",
        "ml.g4dn.16xlarge",
        "ml.m5.large",
        "ml.m5.xlarge",
        "ml.m5.2xlarge",
        "ml.m5.4xlarge",
        "ml.m5.12xlarge",
        "ml.m5.24xlarge",
        "ml.c4.xlarge",
        "ml.c4.2xlarge",
        "ml.c4.4xlarge",
        "ml.c4.8xlarge",
        "ml.p2.xlarge",
        "ml.p2.8xlarge",
        "ml.p2.16xlarge",
        "ml.p3.2xlarge",
        "ml.p3.8xlarge",
        "ml.p3.16xlarge",
        "ml.p3dn.24xlarge",
        "ml.p4d.24xlarge",
        "ml.p4de.24xlarge",
        "ml.p5.48xlarge",
        "ml.p5e.48xlarge",
        "ml.p5en.48xlarge",
        "ml.c5.xlarge",
        "ml.c5.2xlarge",
        "ml.c5.4xlarge",
        "ml.c5.9xlarge",
        "ml.c5.18xlarge",
        "ml.c5n.xlarge",
        "ml.c5n.2xlarge",
        "ml.c5n.4xlarge",
        "ml.c5n.9xlarge",
        "ml.c5n.18xlarge",
        "ml.g5.xlarge",
        "ml.g5.2xlarge",
        "ml.g5.4xlarge",
        "ml.g5.8xlarge",
        "ml.g5.16xlarge",
        "ml.g5.12xlarge",
        "ml.g5.24xlarge",
        "ml.g5.48xlarge",
        "ml.g6.xlarge",
        "ml.g6.2xlarge",
        "ml.g6.4xlarge",
        "ml.g6.8xlarge",
        "ml.g6.16xlarge",
        "ml.g6.12xlarge",
        "ml.g6.24xlarge",
        "ml.g6.48xlarge",
        "ml.g6e.xlarge",
        "ml.g6e.2xlarge",
        "ml.g6e.4xlarge",
        "ml.g6e.8xlarge",
        "ml.g6e.16xlarge",
        "ml.g6e.12xlarge",
        "ml.g6e.24xlarge",
        "ml.g6e.48xlarge",
        "ml.trn1.2xlarge",
        "ml.trn1.32xlarge",
        "ml.trn1n.32xlarge",
        "ml.trn2.48xlarge",
        "ml.m6i.large",
        "ml.m6i.xlarge",
        "ml.m6i.2xlarge",
        "ml.m6i.4xlarge",
        "ml.m6i.8xlarge",
        "ml.m6i.12xlarge",
        "ml.m6i.16xlarge",
        "ml.m6i.24xlarge",
        "ml.m6i.32xlarge",
        "ml.c6i.xlarge",
        "ml.c6i.2xlarge",
        "ml.c6i.8xlarge",
        "ml.c6i.4xlarge",
        "ml.c6i.12xlarge",
        "ml.c6i.16xlarge",
        "ml.c6i.24xlarge",
        "ml.c6i.32xlarge",
        "ml.r5d.large",
        "ml.r5d.xlarge",
        "ml.r5d.2xlarge",
        "ml.r5d.4xlarge",
        "ml.r5d.8xlarge",
        "ml.r5d.12xlarge",
        "ml.r5d.16xlarge",
        "ml.r5d.24xlarge",
        "ml.t3.medium",
        "ml.t3.large",
        "ml.t3.xlarge",
        "ml.t3.2xlarge",
        "ml.r5.large",
        "ml.r5.xlarge",
        "ml.r5.2xlarge",
        "ml.r5.4xlarge",
        "ml.r5.8xlarge",
        "ml.r5.12xlarge",
        "ml.r5.16xlarge",
        "ml.r5.24xlarge",
        "ml.p6-b200.48xlarge",
        "ml.m7i.large",
        "ml.m7i.xlarge",
        "ml.m7i.2xlarge",
        "ml.m7i.4xlarge",
        "ml.m7i.8xlarge",
        "ml.m7i.12xlarge",
        "ml.m7i.16xlarge",
        "ml.m7i.24xlarge",
        "ml.m7i.48xlarge",
        "ml.c7i.large",
        "ml.c7i.xlarge",
        "ml.c7i.2xlarge",
        "ml.c7i.4xlarge",
        "ml.c7i.8xlarge",
        "ml.c7i.12xlarge",
        "ml.c7i.16xlarge",
        "ml.c7i.24xlarge",
        "ml.c7i.48xlarge",
        "ml.r7i.large",
        "ml.r7i.xlarge",
        "ml.r7i.2xlarge",
        "ml.r7i.4xlarge",
        "ml.r7i.8xlarge",
        "ml.r7i.12xlarge",
        "ml.r7i.16xlarge",
        "ml.r7i.24xlarge",
        "ml.r7i.48xlarge",
        "ml.p6e-gb200.36xlarge",
        "ml.p5.4xlarge",
        "ml.p6-b300.48xlarge",
        "ml.g7e.2xlarge",
        "ml.g7e.4xlarge",
        "ml.g7e.8xlarge",
        "ml.g7e.12xlarge",
        "ml.g7e.24xlarge",
        "ml.g7e.48xlarge",
        "ml.g7.2xlarge",
        "ml.g7.4xlarge",
        "ml.g7.8xlarge",
        "ml.g7.12xlarge",
        "ml.g7.24xlarge",
        "ml.g7.48xlarge",
        "ml.r6i.large",
        "ml.r6i.xlarge",
        "ml.r6i.2xlarge",
        "ml.r6i.4xlarge",
        "ml.r6i.8xlarge",
        "ml.r6i.12xlarge",
        "ml.r6i.16xlarge",
        "ml.r6i.24xlarge",
        "ml.r6i.32xlarge",
        "ml.m8i.large",
        "ml.m8i.xlarge",
        "ml.m8i.2xlarge",
        "ml.m8i.4xlarge",
        "ml.m8i.8xlarge",
        "ml.m8i.12xlarge",
        "ml.m8i.16xlarge",
        "ml.m8i.24xlarge",
        "ml.m8i.32xlarge",
        "ml.m8i.48xlarge",
        "ml.m8i.96xlarge",
        "ml.c8i.xlarge",
        "ml.c8i.2xlarge",
        "ml.c8i.4xlarge",
        "ml.c8i.8xlarge",
        "ml.c8i.12xlarge",
        "ml.c8i.16xlarge",
        "ml.c8i.24xlarge",
        "ml.c8i.32xlarge",
        "ml.c8i.48xlarge",
        "ml.c8i.96xlarge",
        "ml.r8i.large",
        "ml.r8i.xlarge",
        "ml.r8i.2xlarge",
        "ml.r8i.4xlarge",
        "ml.r8i.8xlarge",
        "ml.r8i.12xlarge",
        "ml.r8i.16xlarge",
        "ml.r8i.24xlarge",
        "ml.r8i.32xlarge",
        "ml.r8i.48xlarge",
        "ml.r8i.96xlarge",
        "ml.m7i-flex.large",
        "ml.m7i-flex.xlarge",
        "ml.m7i-flex.2xlarge",
        "ml.m7i-flex.4xlarge",
        "ml.m7i-flex.8xlarge",
        "ml.m7i-flex.12xlarge",
        "ml.m7i-flex.16xlarge",
        "ml.c7i-flex.xlarge",
        "ml.c7i-flex.2xlarge",
        "ml.c7i-flex.4xlarge",
        "ml.c7i-flex.8xlarge",
        "ml.c7i-flex.12xlarge",
        "ml.c7i-flex.16xlarge",
        "ml.m8i-flex.large",
        "ml.m8i-flex.xlarge",
        "ml.m8i-flex.2xlarge",
        "ml.m8i-flex.4xlarge",
        "ml.m8i-flex.8xlarge",
        "ml.m8i-flex.12xlarge",
        "ml.m8i-flex.16xlarge",
        "ml.c8i-flex.xlarge",
        "ml.c8i-flex.2xlarge",
        "ml.c8i-flex.4xlarge",
        "ml.c8i-flex.8xlarge",
        "ml.c8i-flex.12xlarge",
        "ml.c8i-flex.16xlarge",
        "ml.r8i-flex.large",
        "ml.r8i-flex.xlarge",
        "ml.r8i-flex.2xlarge",
        "ml.r8i-flex.4xlarge",
        "ml.r8i-flex.8xlarge",
        "ml.r8i-flex.12xlarge",
        "ml.r8i-flex.16xlarge",
    ],
    OrHere(words=("local", "local_gpu")),
]
TrainingInstanceCount = Annotated[int, Whole(minimum=0)]
OptionalVolumeSizeInGB = Annotated[int, Whole(minimum=0)]
KeepAlivePeriodInSeconds = Annotated[int, Whole(minimum=0, maximum=21600)]
TrainingPlanArn = Annotated[
    str, Text(minimum=50, maximum=2048, pattern="arn:aws[a-z\\-]*:sagemaker:[a-z0-9\\-]*:[0-9]{12}:training-plan/.*")
]
String256 = Annotated[str, Text(minimum=0, maximum=256)]
TrainingPlanArnList = Annotated[list[TrainingPlanArn], Items(minimum=1, maximum=1)]
SecurityGroupId = Annotated[str, Text(minimum=0, maximum=32, pattern="[-0-9a-zA-Z]+")]
VpcSecurityGroupIds = Annotated[list[SecurityGroupId], Items(minimum=1, maximum=5)]
SubnetId = Annotated[str, Text(minimum=0, maximum=32, pattern="[-0-9a-zA-Z]+")]
Subnets = Annotated[list[SubnetId], Items(minimum=1, maximum=16)]
MaxRuntimeInSeconds = Annotated[int, Whole(minimum=1)]
MaxWaitTimeInSeconds = Annotated[int, Whole(minimum=1)]
MaxPendingTimeInSeconds = Annotated[int, Whole(minimum=1800, maximum=2419200)]
TagKey = Annotated[str, Text(minimum=1, maximum=128, pattern="([\\p{L}\\p{Z}\\p{N}_.:/=+\\-@]*)")]
TagValue = Annotated[str, Text(minimum=0, maximum=256, pattern="([\\p{L}\\p{Z}\\p{N}_.:/=+\\-@]*)")]
ConfigKey = Annotated[str, Text(minimum=1, maximum=256, pattern=".*")]
ConfigValue = Annotated[str, Text(minimum=0, maximum=256, pattern=".*")]
HookParameters = Annotated[dict[ConfigKey, ConfigValue], Items(minimum=0, maximum=20)]
CollectionName = Annotated[str, Text(minimum=1, maximum=256, pattern=".*")]
CollectionParameters = Annotated[dict[ConfigKey, ConfigValue], Items(minimum=0, maximum=20)]
RuleConfigurationName = Annotated[str, Text(minimum=1, maximum=256, pattern=".*")]
ProcessingInstanceType = Literal[
    "ml.t3.medium",
    "ml.t3.large",
    "ml.t3.xlarge",
    "ml.t3.2xlarge",
    "ml.m4.xlarge",
    "ml.m4.2xlarge",
    "ml.m4.4xlarge",
    "ml.m4.10xlarge",
    "ml.m4.16xlarge",
    "ml.c4.xlarge",
    "ml.c4.2xlarge",
    "ml.c4.4xlarge",
    "ml.c4.8xlarge",
    "ml.p2.xlarge",
    "ml.p2.8xlarge",
    "ml.p2.16xlarge",
    "ml.p3.2xlarge",
    "ml.p3.8xlarge",
    "ml.p3.16xlarge",
    "ml.c5.xlarge",
    "ml.c5.2xlarge",
    "ml.c5.4xlarge",
    "ml.c5.9xlarge",
    "ml.c5.18xlarge",
    "ml.m5.large",
    "ml.m5.xlarge",
    "ml.m5.2xlarge",
    "ml.m5.4xlarge",
    "ml.m5.12xlarge",
    "ml.m5.24xlarge",
    "ml.r5.large",
    "ml.r5.xlarge",
    "ml.r5.2xlarge",
    "ml.r5.4xlarge",
    "ml.r5.8xlarge",
    "ml.r5.12xlarge",
    "ml.r5.16xlarge",
    "ml.r5.24xlarge",
    "ml.g4dn.xlarge",
    "ml.g4dn.2xlarge",
    "ml.g4dn.4xlarge",
    "ml.g4dn.8xlarge",
    "ml.g4dn.12xlarge",
    "ml.g4dn.16xlarge",
    "ml.g5.xlarge",
    "ml.g5.2xlarge",
    "ml.g5.4xlarge",
    "ml.g5.8xlarge",
    "ml.g5.16xlarge",
    "ml.g5.12xlarge",
    "ml.g5.24xlarge",
    "ml.g5.48xlarge",
    "ml.r5d.large",
    "ml.r5d.xlarge",
    "ml.r5d.2xlarge",
    "ml.r5d.4xlarge",
    "ml.r5d.8xlarge",
    "ml.r5d.12xlarge",
    "ml.r5d.16xlarge",
    "ml.r5d.24xlarge",
    "ml.g6.xlarge",
    "ml.g6.2xlarge",
    "ml.g6.4xlarge",
    "ml.g6.8xlarge",
    "ml.g6.12xlarge",
    "ml.g6.16xlarge",
    "ml.g6.24xlarge",
    "ml.g6.48xlarge",
    "ml.g6e.xlarge",
    "ml.g6e.2xlarge",
    "ml.g6e.4xlarge",
    "ml.g6e.8xlarge",
    "ml.g6e.12xlarge",
    "ml.g6e.16xlarge",
    "ml.g6e.24xlarge",
    "ml.g6e.48xlarge",
    "ml.m6i.large",
    "ml.m6i.xlarge",
    "ml.m6i.2xlarge",
    "ml.m6i.4xlarge",
    "ml.m6i.8xlarge",
    "ml.m6i.12xlarge",
    "ml.m6i.16xlarge",
    "ml.m6i.24xlarge",
    "ml.m6i.32xlarge",
    "ml.c6i.xlarge",
    "ml.c6i.2xlarge",
    "ml.c6i.4xlarge",
    "ml.c6i.8xlarge",
    "ml.c6i.12xlarge",
    "ml.c6i.16xlarge",
    "ml.c6i.24xlarge",
    "ml.c6i.32xlarge",
    "ml.m7i.large",
    "ml.m7i.xlarge",
    "ml.m7i.2xlarge",
    "ml.m7i.4xlarge",
    "ml.m7i.8xlarge",
    "ml.m7i.12xlarge",
    "ml.m7i.16xlarge",
    "ml.m7i.24xlarge",
    "ml.m7i.48xlarge",
    "ml.c7i.large",
    "ml.c7i.xlarge",
    "ml.c7i.2xlarge",
    "ml.c7i.4xlarge",
    "ml.c7i.8xlarge",
    "ml.c7i.12xlarge",
    "ml.c7i.16xlarge",
    "ml.c7i.24xlarge",
    "ml.c7i.48xlarge",
    "ml.r7i.large",
    "ml.r7i.xlarge",
    "ml.r7i.2xlarge",
    "ml.r7i.4xlarge",
    "ml.r7i.8xlarge",
    "ml.r7i.12xlarge",
    "ml.r7i.16xlarge",
    "ml.r7i.24xlarge",
    "ml.r7i.48xlarge",
    "ml.p5.4xlarge",
    "ml.g7e.2xlarge",
    "ml.g7e.4xlarge",
    "ml.g7e.8xlarge",
    "ml.g7e.12xlarge",
    "ml.g7e.24xlarge",
    "ml.g7e.48xlarge",
    "ml.g7.2xlarge",
    "ml.g7.4xlarge",
    "ml.g7.8xlarge",
    "ml.g7.12xlarge",
    "ml.g7.24xlarge",
    "ml.g7.48xlarge",
    "ml.r6i.large",
    "ml.r6i.xlarge",
    "ml.r6i.2xlarge",
    "ml.r6i.4xlarge",
    "ml.r6i.8xlarge",
    "ml.r6i.12xlarge",
    "ml.r6i.16xlarge",
    "ml.r6i.24xlarge",
    "ml.r6i.32xlarge",
    "ml.m8i.large",
    "ml.m8i.xlarge",
    "ml.m8i.2xlarge",
    "ml.m8i.4xlarge",
    "ml.m8i.8xlarge",
    "ml.m8i.12xlarge",
    "ml.m8i.16xlarge",
    "ml.m8i.24xlarge",
    "ml.m8i.32xlarge",
    "ml.m8i.48xlarge",
    "ml.m8i.96xlarge",
    "ml.c8i.xlarge",
    "ml.c8i.2xlarge",
    "ml.c8i.4xlarge",
    "ml.c8i.8xlarge",
    "ml.c8i.12xlarge",
    "ml.c8i.16xlarge",
    "ml.c8i.24xlarge",
    "ml.c8i.32xlarge",
    "ml.c8i.48xlarge",
    "ml.c8i.96xlarge",
    "ml.r8i.large",
    "ml.r8i.xlarge",
    "ml.r8i.2xlarge",
    "ml.r8i.4xlarge",
    "ml.r8i.8xlarge",
    "ml.r8i.12xlarge",
    "ml.r8i.16xlarge",
    "ml.r8i.24xlarge",
    "ml.r8i.32xlarge",
    "ml.r8i.48xlarge",
    "ml.r8i.96xlarge",
    "ml.m7i-flex.large",
    "ml.m7i-flex.xlarge",
    "ml.m7i-flex.2xlarge",
    "ml.m7i-flex.4xlarge",
    "ml.m7i-flex.8xlarge",
    "ml.m7i-flex.12xlarge",
    "ml.m7i-flex.16xlarge",
    "ml.c7i-flex.xlarge",
    "ml.c7i-flex.2xlarge",
    "ml.c7i-flex.4xlarge",
    "ml.c7i-flex.8xlarge",
    "ml.c7i-flex.12xlarge",
    "ml.c7i-flex.16xlarge",
    "ml.m8i-flex.large",
    "ml.m8i-flex.xlarge",
    "ml.m8i-flex.2xlarge",
    "ml.m8i-flex.4xlarge",
    "ml.m8i-flex.8xlarge",
    "ml.m8i-flex.12xlarge",
    "ml.m8i-flex.16xlarge",
    "ml.c8i-flex.xlarge",
    "ml.c8i-flex.2xlarge",
    "ml.c8i-flex.4xlarge",
    "ml.c8i-flex.8xlarge",
    "ml.c8i-flex.12xlarge",
    "ml.c8i-flex.16xlarge",
    "ml.r8i-flex.large",
    "ml.r8i-flex.xlarge",
    "ml.r8i-flex.2xlarge",
    "ml.r8i-flex.4xlarge",
    "ml.r8i-flex.8xlarge",
    "ml.r8i-flex.12xlarge",
    "ml.r8i-flex.16xlarge",
]
RuleParameters = Annotated[
    dict[ConfigKey, ConfigValue], Items(minimum=0, maximum=100, path_keys="source_s3_uri|other_trial_[0-9]{1,3}")
]
ExperimentEntityName = Annotated[str, Text(minimum=1, maximum=120, pattern="[a-zA-Z0-9](-*[a-zA-Z0-9]){0,119}")]
ProfilingIntervalInMilliseconds = Annotated[int, Whole(long=True)]
ProfilingParameters = Annotated[dict[ConfigKey, ConfigValue], Items(minimum=0, maximum=20)]
DisableProfiler = bool
TrainingEnvironmentKey = Annotated[str, Text(minimum=0, maximum=512, pattern="[a-zA-Z_][a-zA-Z0-9_]*")]
TrainingEnvironmentValue = Annotated[str, Text(minimum=0, maximum=512, pattern="[\\S\\s]*")]
TrainingEnvironmentMap = Annotated[
    dict[TrainingEnvironmentKey, TrainingEnvironmentValue], Items(minimum=0, maximum=100)
]
MaximumRetryAttempts = Annotated[int, Whole(minimum=1, maximum=30)]
EnableRemoteDebug = bool
EnableInfraCheck = bool
EnableSessionTagChaining = bool
ServerlessJobBaseModelArn = Annotated[
    str,
    Text(
        minimum=1,
        maximum=2048,
        pattern="(arn:[a-z0-9-\\.]{1,63}:sagemaker:\\w+(?:-\\w+)+:(\\d{12}|aws):hub-content\\/)[a-zA-Z0-9](-*[a-zA-Z0-9]){0,62}\\/Model\\/[a-zA-Z0-9](-*[a-zA-Z0-9]){0,63}(\\/\\d{1,4}.\\d{1,4}.\\d{1,4})?",
    ),
]
ServerlessJobType = Literal["FineTuning", "Evaluation"]
CustomizationTechnique = Literal["SFT", "DPO", "RLVR", "RLAIF"]
Peft = Literal["LORA"]
EvaluationType = Literal["LLMAJEvaluation", "CustomScorerEvaluation", "BenchmarkEvaluation"]
EvaluatorArn = Annotated[str, Text(pattern=".*")]
SequenceLength = Annotated[str, Text(minimum=1, maximum=50, pattern="\\d+K")]
MlFlowResourceArn = Annotated[
    str, Text(minimum=0, maximum=2048, pattern="arn:aws[a-z\\-]*:sagemaker:[a-z0-9\\-]*:[0-9]{12}:mlflow-[a-zA-Z-]*/.*")
]
MlflowExperimentName = Annotated[str, Text(minimum=1, maximum=256, pattern=".*")]
MlflowRunName = Annotated[str, Text(minimum=1, maximum=256, pattern=".*")]
ModelPackageGroupArn = Annotated[
    str,
    Text(
        minimum=1,
        maximum=2048,
        pattern="arn:aws[a-z\\-]*:sagemaker:[a-z0-9\\-]{9,16}:[0-9]{12}:model-package-group/[\\S]{1,2048}",
    ),
]
ModelPackageArn = Annotated[
    str,
    Text(
        minimum=1,
        maximum=2048,
        pattern="arn:aws[a-z\\-]*:sagemaker:[a-z0-9\\-]{9,16}:[0-9]{12}:model-package/[\\S]{1,2048}",
    ),
]
