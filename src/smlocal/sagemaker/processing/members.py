"""How each member of CreateProcessingJob is handled."""

from typing import Final

from smlocal.terms.member_table import MemberTable, Row, emulated, recorded, refused

_INPUT: Final = "ProcessingInputs[].S3Input"
DATASET: Final = "ProcessingInputs[].DatasetDefinition"
_OUTPUT: Final = "ProcessingOutputConfig.Outputs[]"
_CLUSTER: Final = "ProcessingResources.ClusterConfig"

TABLE: Final[dict[str, Row]] = {
    "ProcessingInputs[].InputName": emulated("Names the input."),
    "ProcessingInputs[].AppManaged": emulated("Nothing is delivered; the program does that."),
    f"{_INPUT}.S3Uri": emulated("In S3, or a path of this machine."),
    f"{_INPUT}.LocalPath": emulated("Where the container finds it."),
    f"{_INPUT}.S3DataType": emulated("S3Prefix and ManifestFile. Default: S3Prefix."),
    f"{_INPUT}.S3InputMode": emulated("File and Pipe."),
    f"{_INPUT}.S3DataDistributionType": emulated("FullyReplicated and ShardedByS3Key."),
    f"{_INPUT}.S3CompressionType": emulated("Gzip is decompressed in Pipe mode."),
    DATASET: emulated("The folder that Local.Sources has for its OutputS3Uri. No query is run; without it, refused."),
    f"{_OUTPUT}.OutputName": emulated("Names the output."),
    f"{_OUTPUT}.S3Output.S3Uri": emulated("A folder of this machine stands for it, unless the job publishes."),
    f"{_OUTPUT}.S3Output.LocalPath": emulated("The folder that is uploaded."),
    f"{_OUTPUT}.S3Output.S3UploadMode": emulated("Continuous and EndOfJob. Default: EndOfJob."),
    f"{_OUTPUT}.FeatureStoreOutput": refused("There is no feature store here."),
    f"{_OUTPUT}.AppManaged": emulated("Nothing is uploaded; the program does that."),
    "ProcessingOutputConfig.KmsKeyId": emulated("Encrypts what is published to S3; else recorded."),
    "ProcessingJobName": emulated("Names the job. Default: the file name and the time."),
    f"{_CLUSTER}.InstanceCount": emulated("One container for each."),
    f"{_CLUSTER}.InstanceType": emulated("Decides how many GPUs a container gets. Default: this machine."),
    f"{_CLUSTER}.VolumeSizeInGB": emulated("Only with Local.EnforceInstanceLimits."),
    f"{_CLUSTER}.VolumeKmsKeyId": recorded("Nothing is encrypted here."),
    f"{_CLUSTER}.InstancePreferences": emulated("The first is taken: this machine always has capacity."),
    f"{_CLUSTER}.SelectedInstanceType": recorded("The service answers it."),
    f"{_CLUSTER}.SelectedInstanceCount": recorded("The service answers it."),
    "StoppingCondition.MaxRuntimeInSeconds": emulated("The job is stopped then."),
    "AppSpecification.ImageUri": emulated("The image to run."),
    "AppSpecification.ContainerEntrypoint": emulated("In place of the image's ENTRYPOINT and CMD."),
    "AppSpecification.ContainerArguments": emulated("In place of the image's CMD."),
    "Environment": emulated("Variables of the container."),
    "NetworkConfig.EnableInterContainerTrafficEncryption": recorded("Nothing is encrypted here."),
    "NetworkConfig.EnableNetworkIsolation": emulated("The container reaches only its peers."),
    "NetworkConfig.VpcConfig": recorded("The container is on a network of this engine."),
    "RoleArn": recorded("Optional. Sets the account in the ARN, and is the role of Local.Credentials: role."),
    "Tags": recorded("Kept, and listed."),
    "ExperimentConfig": recorded("Kept, and echoed."),
}
"""A row is about a member and everything below it."""

MEMBERS: Final = MemberTable(rows=TABLE)
