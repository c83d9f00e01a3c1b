"""Strings, numbers, lists and maps that only CreateModel, CreateEndpointConfig and CreateEndpoint have.

Written by scripts/generate-models from botocore 1.44.8; do not edit.
"""

from typing import Annotated, Literal

from smlocal.terms.model.structure import Items, OrHere, Text, Whole

ModelName = Annotated[str, Text(minimum=0, maximum=63, pattern="[a-zA-Z0-9]([\\-a-zA-Z0-9]*[a-zA-Z0-9])?")]
ContainerHostname = Annotated[str, Text(minimum=0, maximum=63, pattern="[a-zA-Z0-9](-*[a-zA-Z0-9]){0,62}")]
ContainerImage = Annotated[str, Text(minimum=0, maximum=255, pattern="[\\S]+")]
RepositoryAccessMode = Literal["Platform", "Vpc"]
RepositoryCredentialsProviderArn = Annotated[str, Text(minimum=1, maximum=2048, pattern=".*")]
ContainerMode = Literal["SingleModel", "MultiModel"]
Url = Annotated[str, Text(minimum=0, maximum=1024, pattern="(https|s3)://([^/]+)/?(.*)", or_path=True)]
S3ModelUri = Annotated[str, Text(minimum=0, maximum=1024, pattern="(https|s3)://([^/]+)/?(.*)", or_path=True)]
S3ModelDataType = Literal["S3Prefix", "S3Object"]
ModelCompressionType = Literal["None", "Gzip"]
String = Annotated[str, Text()]
AdditionalModelChannelName = Annotated[str, Text(minimum=1, maximum=64, pattern="[A-Za-z0-9\\.\\-_]+")]
EnvironmentKey = Annotated[str, Text(minimum=0, maximum=1024, pattern="[a-zA-Z_][a-zA-Z0-9_]*")]
EnvironmentValue = Annotated[str, Text(minimum=0, maximum=1024, pattern="[\\S\\s]*")]
EnvironmentMap = Annotated[dict[EnvironmentKey, EnvironmentValue], Items(minimum=0, maximum=100)]
VersionedArnOrName = Annotated[
    str,
    Text(
        minimum=1,
        maximum=176,
        pattern="(arn:aws[a-z\\-]*:sagemaker:[a-z0-9\\-]*:[0-9]{12}:[a-z\\-]*\\/)?([a-zA-Z0-9]([a-zA-Z0-9-]){0,62})(?<!-)(\\/[0-9]{1,9})?",
    ),
]
InferenceSpecificationName = Annotated[str, Text(minimum=1, maximum=63, pattern="[a-zA-Z0-9](-*[a-zA-Z0-9]){0,62}")]
ModelCacheSetting = Literal["Enabled", "Disabled"]
MetricsEndpointPath = Annotated[str, Text(minimum=0, maximum=256, pattern="/(?!.*\\.\\.)[a-zA-Z0-9/_.\\-]+")]
MetricPublishFrequencyInSeconds = Annotated[int, Whole()]
InferenceExecutionMode = Literal["Serial", "Direct"]
EndpointConfigName = Annotated[str, Text(minimum=0, maximum=63, pattern="[a-zA-Z0-9](-*[a-zA-Z0-9]){0,62}")]
VariantName = Annotated[str, Text(minimum=0, maximum=63, pattern="[a-zA-Z0-9](-*[a-zA-Z0-9]){0,62}")]
InitialTaskCount = Annotated[int, Whole(minimum=1)]
ProductionVariantInstanceType = Annotated[
    Literal[
        "ml.t2.medium",
        "ml.t2.large",
        "ml.t2.xlarge",
        "ml.t2.2xlarge",
        "ml.m4.xlarge",
        "ml.m4.2xlarge",
        "ml.m4.4xlarge",
        "ml.m4.10xlarge",
        "ml.m4.16xlarge",
        "ml.m5.large",
        "ml.m5.xlarge",
        "ml.m5.2xlarge",
        "ml.m5.4xlarge",
        "ml.m5.12xlarge",
        "ml.m5.24xlarge",
        "ml.m5d.large",
        "ml.m5d.xlarge",
        "ml.m5d.2xlarge",
        "ml.m5d.4xlarge",
        "ml.m5d.12xlarge",
        "ml.m5d.24xlarge",
        "ml.c4.large",
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
        "ml.c5.large",
        "ml.c5.xlarge",
        "ml.c5.2xlarge",
        "ml.c5.4xlarge",
        "ml.c5.9xlarge",
        "ml.c5.18xlarge",
        "ml.c5d.large",
        "ml.c5d.xlarge",
        "ml.c5d.2xlarge",
        "ml.c5d.4xlarge",
        "ml.c5d.9xlarge",
        "ml.c5d.18xlarge",
        "ml.g4dn.xlarge",
        "ml.g4dn.2xlarge",
        "ml.g4dn.4xlarge",
        "ml.g4dn.8xlarge",
        "ml.g4dn.12xlarge",
        "ml.g4dn.16xlarge",
        "ml.r5.large",
        "ml.r5.xlarge",
        "ml.r5.2xlarge",
        "ml.r5.4xlarge",
        "ml.r5.12xlarge",
        "ml.r5.24xlarge",
        "ml.r5d.large",
        "ml.r5d.xlarge",
        "ml.r5d.2xlarge",
        "ml.r5d.4xlarge",
        "ml.r5d.12xlarge",
        "ml.r5d.24xlarge",
        "ml.inf1.xlarge",
        "ml.inf1.2xlarge",
        "ml.inf1.6xlarge",
        "ml.inf1.24xlarge",
        "ml.dl1.24xlarge",
        "ml.c6i.large",
        "ml.c6i.xlarge",
        "ml.c6i.2xlarge",
        "ml.c6i.4xlarge",
        "ml.c6i.8xlarge",
        "ml.c6i.12xlarge",
        "ml.c6i.16xlarge",
        "ml.c6i.24xlarge",
        "ml.c6i.32xlarge",
        "ml.m6i.large",
        "ml.m6i.xlarge",
        "ml.m6i.2xlarge",
        "ml.m6i.4xlarge",
        "ml.m6i.8xlarge",
        "ml.m6i.12xlarge",
        "ml.m6i.16xlarge",
        "ml.m6i.24xlarge",
        "ml.m6i.32xlarge",
        "ml.r6i.large",
        "ml.r6i.xlarge",
        "ml.r6i.2xlarge",
        "ml.r6i.4xlarge",
        "ml.r6i.8xlarge",
        "ml.r6i.12xlarge",
        "ml.r6i.16xlarge",
        "ml.r6i.24xlarge",
        "ml.r6i.32xlarge",
        "ml.g5.xlarge",
        "ml.g5.2xlarge",
        "ml.g5.4xlarge",
        "ml.g5.8xlarge",
        "ml.g5.12xlarge",
        "ml.g5.16xlarge",
        "ml.g5.24xlarge",
        "ml.g5.48xlarge",
        "ml.g6.xlarge",
        "ml.g6.2xlarge",
        "ml.g6.4xlarge",
        "ml.g6.8xlarge",
        "ml.g6.12xlarge",
        "ml.g6.16xlarge",
        "ml.g6.24xlarge",
        "ml.g6.48xlarge",
        "ml.r8g.medium",
        "ml.r8g.large",
        "ml.r8g.xlarge",
        "ml.r8g.2xlarge",
        "ml.r8g.4xlarge",
        "ml.r8g.8xlarge",
        "ml.r8g.12xlarge",
        "ml.r8g.16xlarge",
        "ml.r8g.24xlarge",
        "ml.r8g.48xlarge",
        "ml.g6e.xlarge",
        "ml.g6e.2xlarge",
        "ml.g6e.4xlarge",
        "ml.g6e.8xlarge",
        "ml.g6e.12xlarge",
        "ml.g6e.16xlarge",
        "ml.g6e.24xlarge",
        "ml.g6e.48xlarge",
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
        "ml.p4d.24xlarge",
        "ml.c7g.large",
        "ml.c7g.xlarge",
        "ml.c7g.2xlarge",
        "ml.c7g.4xlarge",
        "ml.c7g.8xlarge",
        "ml.c7g.12xlarge",
        "ml.c7g.16xlarge",
        "ml.m6g.large",
        "ml.m6g.xlarge",
        "ml.m6g.2xlarge",
        "ml.m6g.4xlarge",
        "ml.m6g.8xlarge",
        "ml.m6g.12xlarge",
        "ml.m6g.16xlarge",
        "ml.m6gd.large",
        "ml.m6gd.xlarge",
        "ml.m6gd.2xlarge",
        "ml.m6gd.4xlarge",
        "ml.m6gd.8xlarge",
        "ml.m6gd.12xlarge",
        "ml.m6gd.16xlarge",
        "ml.c6g.large",
        "ml.c6g.xlarge",
        "ml.c6g.2xlarge",
        "ml.c6g.4xlarge",
        "ml.c6g.8xlarge",
        "ml.c6g.12xlarge",
        "ml.c6g.16xlarge",
        "ml.c6gd.large",
        "ml.c6gd.xlarge",
        "ml.c6gd.2xlarge",
        "ml.c6gd.4xlarge",
        "ml.c6gd.8xlarge",
        "ml.c6gd.12xlarge",
        "ml.c6gd.16xlarge",
        "ml.c6gn.large",
        "ml.c6gn.xlarge",
        "ml.c6gn.2xlarge",
        "ml.c6gn.4xlarge",
        "ml.c6gn.8xlarge",
        "ml.c6gn.12xlarge",
        "ml.c6gn.16xlarge",
        "ml.r6g.large",
        "ml.r6g.xlarge",
        "ml.r6g.2xlarge",
        "ml.r6g.4xlarge",
        "ml.r6g.8xlarge",
        "ml.r6g.12xlarge",
        "ml.r6g.16xlarge",
        "ml.r6gd.large",
        "ml.r6gd.xlarge",
        "ml.r6gd.2xlarge",
        "ml.r6gd.4xlarge",
        "ml.r6gd.8xlarge",
        "ml.r6gd.12xlarge",
        "ml.r6gd.16xlarge",
        "ml.p4de.24xlarge",
        "ml.trn1.2xlarge",
        "ml.trn1.32xlarge",
        "ml.trn1n.32xlarge",
        "ml.trn2.48xlarge",
        "ml.inf2.xlarge",
        "ml.inf2.8xlarge",
        "ml.inf2.24xlarge",
        "ml.inf2.48xlarge",
        "ml.p5.48xlarge",
        "ml.p5e.48xlarge",
        "ml.p5en.48xlarge",
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
        "ml.c8g.medium",
        "ml.c8g.large",
        "ml.c8g.xlarge",
        "ml.c8g.2xlarge",
        "ml.c8g.4xlarge",
        "ml.c8g.8xlarge",
        "ml.c8g.12xlarge",
        "ml.c8g.16xlarge",
        "ml.c8g.24xlarge",
        "ml.c8g.48xlarge",
        "ml.r7gd.medium",
        "ml.r7gd.large",
        "ml.r7gd.xlarge",
        "ml.r7gd.2xlarge",
        "ml.r7gd.4xlarge",
        "ml.r7gd.8xlarge",
        "ml.r7gd.12xlarge",
        "ml.r7gd.16xlarge",
        "ml.m8g.medium",
        "ml.m8g.large",
        "ml.m8g.xlarge",
        "ml.m8g.2xlarge",
        "ml.m8g.4xlarge",
        "ml.m8g.8xlarge",
        "ml.m8g.12xlarge",
        "ml.m8g.16xlarge",
        "ml.m8g.24xlarge",
        "ml.m8g.48xlarge",
        "ml.c6in.large",
        "ml.c6in.xlarge",
        "ml.c6in.2xlarge",
        "ml.c6in.4xlarge",
        "ml.c6in.8xlarge",
        "ml.c6in.12xlarge",
        "ml.c6in.16xlarge",
        "ml.c6in.24xlarge",
        "ml.c6in.32xlarge",
        "ml.p6-b200.48xlarge",
        "ml.p6-b300.48xlarge",
        "ml.p6e-gb200.36xlarge",
        "ml.p5.4xlarge",
    ],
    OrHere(words=("local", "local_gpu")),
]
InstancePoolPriority = Annotated[int, Whole(minimum=1, maximum=5)]
VariantInstanceProvisionTimeoutInSeconds = Annotated[int, Whole(minimum=300, maximum=3600)]
VariantWeight = float
ProductionVariantAcceleratorType = Literal[
    "ml.eia1.medium", "ml.eia1.large", "ml.eia1.xlarge", "ml.eia2.medium", "ml.eia2.large", "ml.eia2.xlarge"
]
DestinationS3Uri = Annotated[str, Text(minimum=0, maximum=512, pattern="(https|s3)://([^/])/?(.*)")]
ServerlessMemorySizeInMB = Annotated[int, Whole(minimum=1024, maximum=6144)]
ServerlessMaxConcurrency = Annotated[int, Whole(minimum=1, maximum=200)]
ServerlessProvisionedConcurrency = Annotated[int, Whole(minimum=1, maximum=200)]
ProductionVariantVolumeSizeInGB = Annotated[int, Whole(minimum=1, maximum=512)]
ProductionVariantModelDataDownloadTimeoutInSeconds = Annotated[int, Whole(minimum=60, maximum=3600)]
ProductionVariantContainerStartupHealthCheckTimeoutInSeconds = Annotated[int, Whole(minimum=60, maximum=3600)]
ProductionVariantSSMAccess = bool
ManagedInstanceScalingStatus = Literal["ENABLED", "DISABLED"]
ManagedInstanceScalingMinInstanceCount = Annotated[int, Whole(minimum=0)]
ManagedInstanceScalingMaxInstanceCount = Annotated[int, Whole(minimum=1)]
ManagedInstanceScalingScaleInStrategy = Literal["IDLE_RELEASE", "CONSOLIDATION"]
ManagedInstanceScalingMaximumStepSize = Annotated[int, Whole(minimum=1, maximum=100)]
ManagedInstanceScalingCooldownInMinutes = Annotated[int, Whole(minimum=5, maximum=1440)]
RoutingStrategy = Literal["LEAST_OUTSTANDING_REQUESTS", "RANDOM", "PREFIX_AWARE", "KV_AWARE"]
PrefixAwareRoutingPrefixLength = Annotated[int, Whole(minimum=1024, maximum=65536)]
PrefixAwareRoutingConcurrencyThreshold = Annotated[int, Whole(minimum=1, maximum=1024)]
ProductionVariantInferenceAmiVersion = Literal[
    "al2-ami-sagemaker-inference-gpu-2",
    "al2-ami-sagemaker-inference-gpu-2-1",
    "al2-ami-sagemaker-inference-gpu-3-1",
    "al2-ami-sagemaker-inference-neuron-2",
    "al2023-ami-sagemaker-inference-gpu-4-1",
]
CapacityReservationPreference = Literal["capacity-reservations-only"]
MlReservationArn = Annotated[
    str, Text(minimum=20, maximum=258, pattern="arn:aws[a-z\\-]*:sagemaker:[a-z0-9\\-]*:[0-9]{12}:[a-z0-9\\-]{1,14}/.*")
]
AcceleratorPartitionType = Annotated[
    str, Text(minimum=0, maximum=32, pattern="mig-[0-9]+g\\.[0-9]+gb([+-][a-z0-9.]+)*")
]
AcceleratorPartitionTypeList = Annotated[list[AcceleratorPartitionType], Items(minimum=0, maximum=32)]
EnableCapture = bool
SamplingPercentage = Annotated[int, Whole(minimum=0, maximum=100)]
CaptureMode = Literal["Input", "Output", "InputAndOutput"]
CsvContentType = Annotated[
    str, Text(minimum=1, maximum=256, pattern="[a-zA-Z0-9](-*[a-zA-Z0-9])*\\/[a-zA-Z0-9](-*[a-zA-Z0-9.])*")
]
CsvContentTypes = Annotated[list[CsvContentType], Items(minimum=1, maximum=10)]
JsonContentType = Annotated[
    str, Text(minimum=1, maximum=256, pattern="[a-zA-Z0-9](-*[a-zA-Z0-9])*\\/[a-zA-Z0-9](-*[a-zA-Z0-9.])*")
]
JsonContentTypes = Annotated[list[JsonContentType], Items(minimum=1, maximum=10)]
MaxConcurrentInvocationsPerInstance = Annotated[int, Whole(minimum=1, maximum=1000)]
SnsTopicArn = Annotated[
    str, Text(minimum=0, maximum=2048, pattern="arn:aws[a-z\\-]*:sns:[a-z0-9\\-]*:[0-9]{12}:[a-zA-Z0-9_.-]+")
]
AsyncNotificationTopicTypes = Literal["SUCCESS_NOTIFICATION_TOPIC", "ERROR_NOTIFICATION_TOPIC"]
AsyncNotificationTopicTypeList = Annotated[list[AsyncNotificationTopicTypes], Items(minimum=0, maximum=2)]
ClarifyEnableExplanations = Annotated[str, Text(minimum=1, maximum=64, pattern=".*")]
ClarifyFeaturesAttribute = Annotated[str, Text(minimum=1, maximum=64, pattern=".*")]
ClarifyContentTemplate = Annotated[str, Text(minimum=1, maximum=64, pattern=".*")]
ClarifyMaxRecordCount = Annotated[int, Whole(minimum=1)]
ClarifyMaxPayloadInMB = Annotated[int, Whole(minimum=1, maximum=25)]
ClarifyProbabilityIndex = Annotated[int, Whole(minimum=0)]
ClarifyLabelIndex = Annotated[int, Whole(minimum=0)]
ClarifyProbabilityAttribute = Annotated[str, Text(minimum=1, maximum=64, pattern=".*")]
ClarifyLabelAttribute = Annotated[str, Text(minimum=1, maximum=64, pattern=".*")]
ClarifyHeader = Annotated[str, Text(minimum=1, maximum=64, pattern=".*")]
ClarifyLabelHeaders = Annotated[list[ClarifyHeader], Items(minimum=1, maximum=16)]
ClarifyFeatureHeaders = Annotated[list[ClarifyHeader], Items(minimum=1, maximum=256)]
ClarifyFeatureType = Literal["numerical", "categorical", "text"]
ClarifyFeatureTypes = Annotated[list[ClarifyFeatureType], Items(minimum=1, maximum=256)]
ClarifyMimeType = Annotated[
    str, Text(minimum=0, maximum=255, pattern="[a-zA-Z0-9](-*[a-zA-Z0-9])*\\/[a-zA-Z0-9](-*[a-zA-Z0-9+.])*")
]
ClarifyShapBaseline = Annotated[str, Text(minimum=1, maximum=4096, pattern="[\\s\\S]+")]
ClarifyShapNumberOfSamples = Annotated[int, Whole(minimum=1)]
ClarifyShapUseLogit = bool
ClarifyShapSeed = Annotated[int, Whole()]
ClarifyTextLanguage = Literal[
    "af",
    "sq",
    "ar",
    "hy",
    "eu",
    "bn",
    "bg",
    "ca",
    "zh",
    "hr",
    "cs",
    "da",
    "nl",
    "en",
    "et",
    "fi",
    "fr",
    "de",
    "el",
    "gu",
    "he",
    "hi",
    "hu",
    "is",
    "id",
    "ga",
    "it",
    "kn",
    "ky",
    "lv",
    "lt",
    "lb",
    "mk",
    "ml",
    "mr",
    "ne",
    "nb",
    "fa",
    "pl",
    "pt",
    "ro",
    "ru",
    "sa",
    "sr",
    "tn",
    "si",
    "sk",
    "sl",
    "es",
    "sv",
    "tl",
    "ta",
    "tt",
    "te",
    "tr",
    "uk",
    "ur",
    "yo",
    "lij",
    "xx",
]
ClarifyTextGranularity = Literal["token", "sentence", "paragraph"]
EnableEnhancedMetrics = bool
EnableDetailedObservability = bool
CrossRegionMaxInvocationsPerSecondPerInstance = Annotated[int, Whole(minimum=1, maximum=10000)]
CrossRegionPercentPerEndpoint = Annotated[int, Whole(minimum=1, maximum=100)]
EndpointName = Annotated[str, Text(minimum=0, maximum=63, pattern="[a-zA-Z0-9](-*[a-zA-Z0-9]){0,62}")]
TrafficRoutingConfigType = Literal["ALL_AT_ONCE", "CANARY", "LINEAR"]
WaitIntervalInSeconds = Annotated[int, Whole(minimum=0, maximum=3600)]
CapacitySizeType = Literal["INSTANCE_COUNT", "CAPACITY_PERCENT"]
CapacitySizeValue = Annotated[int, Whole(minimum=1)]
TerminationWaitInSeconds = Annotated[int, Whole(minimum=0, maximum=3600)]
MaximumExecutionTimeoutInSeconds = Annotated[int, Whole(minimum=600, maximum=28800)]
AlarmName = Annotated[str, Text(minimum=1, maximum=255, pattern="(?!\\s*$).+")]
