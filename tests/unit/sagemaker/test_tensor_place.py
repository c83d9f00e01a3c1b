from pathlib import Path
from typing import Any

from smlocal.sagemaker.tensor_place import TensorPlace, tensor_place


def plan(member: str, published: str | None = None) -> dict[str, Any]:
    return {"Collectors": [{"Member": member, "Directory": "/debug", "Published": published}]}


def test_tensors_are_read_where_they_are_mirrored_to(tmp_path: Path) -> None:
    assert tensor_place({}, str(tmp_path)) is None
    assert tensor_place(plan("TensorBoardOutputConfig"), str(tmp_path)) is None
    assert tensor_place(plan("DebugHookConfig"), str(tmp_path)) == TensorPlace(folder="/debug", s3_prefix=None)
    published = tensor_place(plan("DebugHookConfig", "s3://bucket/"), str(tmp_path))
    assert published == TensorPlace(folder="/debug", s3_prefix="s3://bucket/")


def test_while_rules_read_a_folder_of_their_own_it_is_that(tmp_path: Path) -> None:
    (tmp_path / "tensors").mkdir()
    place = tensor_place(plan("DebugHookConfig", "s3://bucket/"), str(tmp_path))
    assert place == TensorPlace(folder=f"{tmp_path}/tensors", s3_prefix="s3://bucket/")
