"""Errors of `smlocal submit`."""

from smlocal.errors.base import MachineNotReadyError, RequestRefusedError


class UploadPrefixError(RequestRefusedError):
    """`smlocal submit` does not know where in S3 local data belongs, or the location is not valid."""

    id = "upload-prefix"


class UploadNameError(RequestRefusedError):
    """A local file has a name or path that an object of S3 cannot have."""

    id = "upload-name"


class UploadManifestError(RequestRefusedError):
    """A local manifest cannot be uploaded: it names local files, or is not valid."""

    id = "upload-manifest"


class UploadSourceChangedError(RequestRefusedError):
    """A local file changed between the moment it was read and the end of its upload."""

    id = "upload-changed"


class UploadFailedError(MachineNotReadyError):
    """S3 did not take an upload: no right to write, no such bucket, or a connection that broke for too long."""

    id = "upload-failed"


class ImageNotInEcrError(RequestRefusedError):
    """The service can pull images of Amazon ECR only."""

    id = "image-not-in-ecr"


class SubmitNotConfirmedError(RequestRefusedError):
    """A job that costs money was not confirmed."""

    id = "submit-not-confirmed"
