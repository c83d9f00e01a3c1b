"""The members of CustomJob and of every structure in it, in the words of `members.py`.

Written by scripts/generate-ai-platform-models; do not edit.
Source: aiplatform.v1 of google-api-python-client 2.202.0, revision 20261106.
"""
# ruff: noqa: E501 - an enumeration is one line

from collections.abc import Mapping
from typing import Final

STRUCTURES: Final[Mapping[str, Mapping[str, str]]] = {
    "CustomJob": {
        "createTime": "output datetime",
        "displayName": "required string",
        "encryptionSpec": "EncryptionSpec",
        "endTime": "output datetime",
        "error": "output Status",
        "jobSpec": "required CustomJobSpec",
        "labels": "map of string",
        "name": "output string",
        "satisfiesPzi": "output boolean",
        "satisfiesPzs": "output boolean",
        "startTime": "output datetime",
        "state": "output enum JOB_STATE_UNSPECIFIED JOB_STATE_QUEUED JOB_STATE_PENDING JOB_STATE_RUNNING JOB_STATE_SUCCEEDED JOB_STATE_FAILED JOB_STATE_CANCELLING JOB_STATE_CANCELLED JOB_STATE_PAUSED JOB_STATE_EXPIRED JOB_STATE_UPDATING JOB_STATE_PARTIALLY_SUCCEEDED",
        "updateTime": "output datetime",
        "webAccessUris": "output map of string",
    },
    "EncryptionSpec": {"kmsKeyName": "required string"},
    "Status": {"code": "int32", "details": "list of map of any", "message": "string"},
    "CustomJobSpec": {
        "baseOutputDirectory": "GcsDestination",
        "enableDashboardAccess": "boolean",
        "enableWebAccess": "boolean",
        "experiment": "string",
        "experimentRun": "string",
        "models": "list of string",
        "network": "string",
        "persistentResourceId": "string",
        "protectedArtifactLocationId": "string",
        "pscInterfaceConfig": "PscInterfaceConfig",
        "reservedIpRanges": "list of string",
        "scheduling": "Scheduling",
        "serviceAccount": "string",
        "tensorboard": "string",
        "workerPoolSpecs": "required list of WorkerPoolSpec",
    },
    "GcsDestination": {"outputUriPrefix": "required string"},
    "PscInterfaceConfig": {"dnsPeeringConfigs": "list of DnsPeeringConfig", "networkAttachment": "string"},
    "Scheduling": {
        "disableRetries": "boolean",
        "maxWaitDuration": "duration",
        "restartJobOnWorkerRestart": "boolean",
        "strategy": "enum STRATEGY_UNSPECIFIED ON_DEMAND LOW_COST STANDARD SPOT FLEX_START",
        "timeout": "duration",
    },
    "WorkerPoolSpec": {
        "containerSpec": "ContainerSpec",
        "diskSpec": "DiskSpec",
        "lustreMounts": "list of LustreMount",
        "machineSpec": "MachineSpec",
        "nfsMounts": "list of NfsMount",
        "pythonPackageSpec": "PythonPackageSpec",
        "replicaCount": "int64",
    },
    "DnsPeeringConfig": {
        "domain": "required string",
        "targetNetwork": "required string",
        "targetProject": "required string",
    },
    "ContainerSpec": {
        "args": "list of string",
        "command": "list of string",
        "env": "list of EnvVar",
        "imageUri": "required string",
    },
    "DiskSpec": {"bootDiskSizeGb": "int32", "bootDiskType": "string"},
    "LustreMount": {
        "filesystem": "required string",
        "instanceIp": "required string",
        "mountPoint": "required string",
        "volumeHandle": "required string",
    },
    "MachineSpec": {
        "acceleratorCount": "int32",
        "acceleratorType": "enum ACCELERATOR_TYPE_UNSPECIFIED NVIDIA_TESLA_K80 NVIDIA_TESLA_P100 NVIDIA_TESLA_V100 NVIDIA_TESLA_P4 NVIDIA_TESLA_T4 NVIDIA_TESLA_A100 NVIDIA_A100_80GB NVIDIA_L4 NVIDIA_H100_80GB NVIDIA_H100_MEGA_80GB NVIDIA_H200_141GB NVIDIA_B200 NVIDIA_GB200 NVIDIA_RTX_PRO_6000 TPU_V2 TPU_V3 TPU_V4_POD TPU_V5_LITEPOD",
        "gpuPartitionSize": "string",
        "machineType": "string",
        "reservationAffinity": "ReservationAffinity",
        "tpuTopology": "string",
    },
    "NfsMount": {"mountPoint": "required string", "path": "required string", "server": "required string"},
    "PythonPackageSpec": {
        "args": "list of string",
        "env": "list of EnvVar",
        "executorImageUri": "required string",
        "packageUris": "required list of string",
        "pythonModule": "required string",
    },
    "EnvVar": {"name": "required string", "value": "required string"},
    "ReservationAffinity": {
        "key": "string",
        "reservationAffinityType": "required enum TYPE_UNSPECIFIED NO_RESERVATION ANY_RESERVATION SPECIFIC_RESERVATION",
        "values": "list of string",
    },
}
