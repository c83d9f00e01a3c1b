"""How each member of CreateTransformJob is handled, and of CreateModel where a file has the model too."""

from collections.abc import Mapping
from typing import Final

from smlocal.sagemaker.serving.members import MEMBERS as OF_ENDPOINTS
from smlocal.terms.member_table import MemberTable, Row, emulated, recorded, refused, works

_PIPELINE: Final = "Inference pipelines are not transformed here; give one container as PrimaryContainer."
_OF_THE_MODEL: Final = (
    *("PrimaryContainer", "ExecutionRoleArn", "VpcConfig", "EnableNetworkIsolation", "InferenceExecutionConfig"),
)

_DATA_SOURCE: Final = "PrimaryContainer.ModelDataSource"
_MODEL_ROWS: Final = {
    **{
        name: row
        for name, row in OF_ENDPOINTS.rows.items()
        if name.startswith(_OF_THE_MODEL) and not name.startswith(f"{_DATA_SOURCE}.")
    },
    _DATA_SOURCE: refused("The service transforms with no such model; give an archive as ModelDataUrl."),
}

TABLE: Final[Mapping[str, Row]] = {
    "TransformJobName": emulated("Names the job and its ARN. Default: the file name and the time."),
    "ModelName": emulated("A model that a client of smlocal serve has made; a file may have the model itself."),
    "MaxConcurrentTransforms": emulated("So many requests at once."),
    "ModelClientConfig.InvocationsTimeoutInSeconds": emulated("For the answer to a request."),
    "ModelClientConfig.InvocationsMaxRetries": emulated("After a request without an answer, or answered with 5xx."),
    "MaxPayloadInMB": emulated(
        "The most of one request; 0 sends a whole object, in chunks unless it is filtered or joined."
    ),
    "BatchStrategy": emulated("One record in a request, or as many as fit."),
    "Environment": emulated("Variables of the container, beside those of the model."),
    "TransformInput.DataSource.S3DataSource.S3DataType": emulated(
        "What S3Uri names.",
        {
            "S3Prefix": works("Every object whose key begins with the prefix."),
            "ManifestFile": works("The objects listed in a manifest."),
        },
        AugmentedManifestFile="The service does not transform augmented manifests.",
        Converse="The service does not transform this data type.",
    ),
    "TransformInput.DataSource.S3DataSource.S3Uri": emulated(
        "An s3:// URI, read with the credentials of this machine or from the folder that Local.Sources names; "
        "or a local path or file:// URI."
    ),
    "TransformInput.ContentType": emulated("The header Content-Type of each request."),
    "TransformInput.CompressionType": emulated("Gzip objects are decompressed."),
    "TransformInput.SplitType": emulated("How an object is cut into records."),
    "TransformOutput.S3OutputPath": emulated(
        "A local path; for an s3:// URI the folder of Local.Output, or one below ./smlocal-output."
    ),
    "TransformOutput.Accept": emulated("The header Accept of each request."),
    "TransformOutput.AssembleWith": emulated("Line ends each answer with a newline."),
    "TransformOutput.KmsKeyId": recorded("Nothing is encrypted here."),
    "DataCaptureConfig": recorded("Nothing is captured."),
    "TransformResources.InstanceType": emulated("Decides how many GPUs the container gets."),
    "TransformResources.InstanceCount": recorded("One container transforms all objects."),
    "TransformResources.VolumeKmsKeyId": recorded("Nothing is encrypted here."),
    "TransformResources.TransformAmiVersion": recorded("The container runs on this machine."),
    "DataProcessing.InputFilter": emulated("The part of a record that is sent."),
    "DataProcessing.OutputFilter": emulated("The part of the output that is kept."),
    "DataProcessing.JoinSource": emulated("Input: records and answers are joined."),
    "Tags": recorded("Kept."),
    "ExperimentConfig": recorded("No experiment is recorded."),
}
"""Those of CreateTransformJob."""
MEMBERS: Final = MemberTable(rows={**TABLE, **_MODEL_ROWS, "Containers": refused(_PIPELINE)})
"""Those of a file, which has the model too."""
