"""The empty folders and config files that a host has under `/opt/ml` at the start."""

from collections.abc import Mapping

from smlocal.contract.hosts import Host
from smlocal.jobfile.settings import LocalSettings
from smlocal.platforms.sagemaker.contract import paths
from smlocal.platforms.sagemaker.contract.checkpoint_paths import container_path, is_own_mount
from smlocal.platforms.sagemaker.contract.documents.config_files import config_files, is_for
from smlocal.platforms.sagemaker.contract.model.request import CreateTrainingJobRequest

_MOUNTED = (paths.CONFIG, paths.DATA, paths.MODEL, paths.OUTPUT_DATA, paths.METRICS, paths.PROFILER, paths.WARM_POOL)


def directories_of(request: CreateTrainingJobRequest) -> tuple[str, ...]:
    """The folders that are empty at the start."""
    collectors = (
        (request.DebugHookConfig, paths.TENSORS),
        (request.TensorBoardOutputConfig, paths.TENSORBOARD),
    )
    asked = [config.LocalPath or default for config, default in collectors if config is not None]
    made = [path for path in map(container_path, asked) if not is_own_mount(path)]
    if request.CheckpointConfig is not None:
        path = container_path(request.CheckpointConfig.LocalPath)
        # A folder with its own mount is made where it is filled.
        made += [] if is_own_mount(path) else [path]
    return (*_MOUNTED, *made)


def files_of(
    request: CreateTrainingJobRequest,
    host: Host,
    hosts: tuple[Host, ...],
    local: LocalSettings,
    manifests: Mapping[str, bytes],
) -> Mapping[str, bytes]:
    """Config files, and the manifests of the channels that the host has."""
    absent = {paths.channel_manifest(c.ChannelName) for c in request.InputDataConfig or () if not is_for(c, host)}
    written = config_files(request, host, hosts, keys=local.ResourceConfigKeys, interface=local.NetworkInterface)
    return {
        **{f"{paths.CONFIG}/{name}": content for name, content in written.items()},
        **{path: content for path, content in manifests.items() if path not in absent},
    }
