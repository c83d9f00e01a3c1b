"""The folders of SageMaker's containers."""

from typing import Final

from smlocal.planning.model import ContainerFolders
from smlocal.platforms.sagemaker.contract import paths

FOLDERS: Final = ContainerFolders(
    root=paths.ROOT,
    input=paths.INPUT,
    data=paths.DATA,
    model=paths.MODEL,
    output=paths.OUTPUT,
    output_data=paths.OUTPUT_DATA,
    failure=paths.FAILURE,
    warm_pool=paths.WARM_POOL,
)
