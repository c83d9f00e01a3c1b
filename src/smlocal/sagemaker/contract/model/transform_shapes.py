"""Strings, numbers, lists and maps that only CreateTransformJob has.

Written by scripts/generate-models from botocore 1.44.5; do not edit.
"""

from typing import Annotated, Literal

from smlocal.jobs.contract.model.structure import Items, OrHere, Text, Whole

TransformJobName = Annotated[str, Text(minimum=1, maximum=63, pattern="[a-zA-Z0-9](-*[a-zA-Z0-9]){0,62}")]
ModelName = Annotated[str, Text(minimum=0, maximum=63, pattern="[a-zA-Z0-9]([\\-a-zA-Z0-9]*[a-zA-Z0-9])?")]
MaxConcurrentTransforms = Annotated[int, Whole(minimum=0)]
InvocationsTimeoutInSeconds = Annotated[int, Whole(minimum=1, maximum=3600)]
InvocationsMaxRetries = Annotated[int, Whole(minimum=0, maximum=3)]
MaxPayloadInMB = Annotated[int, Whole(minimum=0)]
BatchStrategy = Literal["MultiRecord", "SingleRecord"]
TransformEnvironmentKey = Annotated[str, Text(minimum=0, maximum=1024, pattern="[a-zA-Z_][a-zA-Z0-9_]{0,1023}")]
TransformEnvironmentValue = Annotated[str, Text(minimum=0, maximum=10240, pattern="[\\S\\s]*")]
TransformEnvironmentMap = Annotated[
    dict[TransformEnvironmentKey, TransformEnvironmentValue], Items(minimum=0, maximum=16)
]
SplitType = Literal["None", "Line", "RecordIO", "TFRecord"]
Accept = Annotated[str, Text(minimum=0, maximum=256, pattern=".*")]
AssemblyType = Literal["None", "Line"]
TransformInstanceType = Annotated[
    Literal[
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
        "ml.m6i.large",
        "ml.m6i.xlarge",
        "ml.m6i.2xlarge",
        "ml.m6i.4xlarge",
        "ml.m6i.8xlarge",
        "ml.m6i.12xlarge",
        "ml.m6i.16xlarge",
        "ml.m6i.24xlarge",
        "ml.m6i.32xlarge",
        "ml.c6i.large",
        "ml.c6i.xlarge",
        "ml.c6i.2xlarge",
        "ml.c6i.4xlarge",
        "ml.c6i.8xlarge",
        "ml.c6i.12xlarge",
        "ml.c6i.16xlarge",
        "ml.c6i.24xlarge",
        "ml.c6i.32xlarge",
        "ml.r6i.large",
        "ml.r6i.xlarge",
        "ml.r6i.2xlarge",
        "ml.r6i.4xlarge",
        "ml.r6i.8xlarge",
        "ml.r6i.12xlarge",
        "ml.r6i.16xlarge",
        "ml.r6i.24xlarge",
        "ml.r6i.32xlarge",
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
        "ml.g5.12xlarge",
        "ml.g5.16xlarge",
        "ml.g5.24xlarge",
        "ml.g5.48xlarge",
        "ml.trn1.2xlarge",
        "ml.trn1.32xlarge",
        "ml.inf2.xlarge",
        "ml.inf2.8xlarge",
        "ml.inf2.24xlarge",
        "ml.inf2.48xlarge",
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
    ],
    OrHere(words=("local", "local_gpu")),
]
TransformInstanceCount = Annotated[int, Whole(minimum=1)]
TransformAmiVersion = Annotated[str, Text(minimum=1, maximum=63, pattern="[a-zA-Z0-9]+(-[a-zA-Z0-9]+)*")]
JsonPath = Annotated[str, Text(minimum=0, maximum=63)]
JoinSource = Literal["Input", "None"]
