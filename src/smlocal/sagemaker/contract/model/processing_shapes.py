"""Strings, numbers, lists and maps of CreateProcessingJob.

Written by scripts/generate-models from botocore 1.44.5; do not edit.
"""

from typing import Annotated, Literal

from smlocal.jobs.contract.model.structure import Items, OrHere, Text, Whole

String = Annotated[str, Text()]
AppManaged = bool
S3Uri = Annotated[str, Text(minimum=0, maximum=1024, pattern="(https|s3)://([^/]+)/?(.*)", or_path=True)]
ProcessingLocalPath = Annotated[str, Text(minimum=0, maximum=256, pattern=".*")]
ProcessingS3DataType = Literal["ManifestFile", "S3Prefix"]
ProcessingS3InputMode = Literal["Pipe", "File"]
ProcessingS3DataDistributionType = Literal["FullyReplicated", "ShardedByS3Key"]
ProcessingS3CompressionType = Literal["None", "Gzip"]
AthenaCatalog = Annotated[
    str, Text(minimum=1, maximum=256, pattern="[\\u0020-\\uD7FF\\uE000-\\uFFFD\\uD800\\uDC00-\\uDBFF\\uDFFF\\t]*")
]
AthenaDatabase = Annotated[str, Text(minimum=1, maximum=255, pattern=".*")]
AthenaQueryString = Annotated[str, Text(minimum=1, maximum=4096, pattern="[\\s\\S]+")]
AthenaWorkGroup = Annotated[str, Text(minimum=1, maximum=128, pattern="[a-zA-Z0-9._-]+")]
KmsKeyId = Annotated[str, Text(minimum=0, maximum=2048, pattern="[a-zA-Z0-9:/_-]*")]
AthenaResultFormat = Literal["PARQUET", "ORC", "AVRO", "JSON", "TEXTFILE"]
AthenaResultCompressionType = Literal["GZIP", "SNAPPY", "ZLIB"]
RedshiftClusterId = Annotated[str, Text(minimum=1, maximum=63, pattern=".*")]
RedshiftDatabase = Annotated[str, Text(minimum=1, maximum=64, pattern=".*")]
RedshiftUserName = Annotated[str, Text(minimum=1, maximum=128, pattern=".*")]
RedshiftQueryString = Annotated[str, Text(minimum=1, maximum=4096, pattern="[\\s\\S]+")]
RoleArn = Annotated[
    str, Text(minimum=20, maximum=2048, pattern="arn:aws[a-z\\-]*:iam::\\d{12}:role/?[a-zA-Z_0-9+=,.@\\-_/]+")
]
RedshiftResultFormat = Literal["PARQUET", "CSV"]
RedshiftResultCompressionType = Literal["None", "GZIP", "BZIP2", "ZSTD", "SNAPPY"]
DataDistributionType = Literal["FullyReplicated", "ShardedByS3Key"]
InputMode = Literal["Pipe", "File"]
ProcessingS3UploadMode = Literal["Continuous", "EndOfJob"]
FeatureGroupName = Annotated[str, Text(minimum=1, maximum=64, pattern="[a-zA-Z0-9]([_-]*[a-zA-Z0-9]){0,63}")]
ProcessingJobName = Annotated[str, Text(minimum=1, maximum=63, pattern="[a-zA-Z0-9](-*[a-zA-Z0-9]){0,62}")]
ProcessingInstanceCount = Annotated[int, Whole(minimum=1, maximum=100)]
ProcessingInstanceType = Annotated[
    Literal[
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
    ],
    OrHere(words=("local", "local_gpu")),
]
ProcessingVolumeSizeInGB = Annotated[int, Whole(minimum=1, maximum=16384)]
ProcessingMaxRuntimeInSeconds = Annotated[int, Whole(minimum=1, maximum=777600)]
ImageUri = Annotated[str, Text(minimum=0, maximum=255, pattern=".*")]
ContainerEntrypointString = Annotated[str, Text(minimum=0, maximum=256, pattern=".*")]
ContainerEntrypoint = Annotated[list[ContainerEntrypointString], Items(minimum=1, maximum=100)]
ContainerArgument = Annotated[str, Text(minimum=0, maximum=256, pattern=".*")]
ContainerArguments = Annotated[list[ContainerArgument], Items(minimum=1, maximum=100)]
ProcessingEnvironmentKey = Annotated[str, Text(minimum=0, maximum=256, pattern="[a-zA-Z_][a-zA-Z0-9_]*")]
ProcessingEnvironmentValue = Annotated[str, Text(minimum=0, maximum=256, pattern="[\\S\\s]*")]
ProcessingEnvironmentMap = Annotated[
    dict[ProcessingEnvironmentKey, ProcessingEnvironmentValue], Items(minimum=0, maximum=100)
]
Boolean = bool
SecurityGroupId = Annotated[str, Text(minimum=0, maximum=32, pattern="[-0-9a-zA-Z]+")]
VpcSecurityGroupIds = Annotated[list[SecurityGroupId], Items(minimum=1, maximum=5)]
SubnetId = Annotated[str, Text(minimum=0, maximum=32, pattern="[-0-9a-zA-Z]+")]
Subnets = Annotated[list[SubnetId], Items(minimum=1, maximum=16)]
TagKey = Annotated[str, Text(minimum=1, maximum=128, pattern="([\\p{L}\\p{Z}\\p{N}_.:/=+\\-@]*)")]
TagValue = Annotated[str, Text(minimum=0, maximum=256, pattern="([\\p{L}\\p{Z}\\p{N}_.:/=+\\-@]*)")]
ExperimentEntityName = Annotated[str, Text(minimum=1, maximum=120, pattern="[a-zA-Z0-9](-*[a-zA-Z0-9]){0,119}")]
