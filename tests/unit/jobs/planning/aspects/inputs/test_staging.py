from collections.abc import Callable
from dataclasses import replace

import pytest

from smlocal.jobs.planning.aspects.inputs.plan import choose_staging
from smlocal.jobs.planning.model import JobPlan
from smlocal.sagemaker.training.script import shell_script
from smlocal.terms.channels import Staging
from smlocal.terms.listing import Listing

Planner = Callable[..., JobPlan]


def listing(*reasons: str, whole_tree: bool = True) -> Listing:
    return Listing(
        root="/d",
        bucket_uri="file:///",
        prefix="d/",
        key_base="d/",
        paths=("x",),
        total_bytes=1,
        whole_tree=whole_tree,
        copy_reasons=reasons,
    )


@pytest.mark.parametrize("requested", [None, "overlay"])
def test_a_tree_is_shown_in_place_unless_something_leads_out(requested: Staging | None) -> None:
    assert choose_staging(listing(), requested) == ("overlay", None)
    assert choose_staging(listing("l leads out"), requested) == ("copy", "l leads out")
    assert choose_staging(listing("a", "b", "c", "d"), requested) == ("copy", "a; b; and 2 more")


def test_the_script_mounts_what_is_shown_in_place_and_copies_the_rest(plan: Planner) -> None:
    mounted = "--mount type=bind,source=/data/train,target=/opt/ml/input/data/train,readonly"
    assert mounted in shell_script(plan())
    copied = shell_script(plan({}, {"Staging": "copy"}))
    assert "type=bind" not in copied
    assert "cp -RL /data/train/. algo-1/input/data/train/" in copied


def test_a_rootless_engine_copies_unless_told_otherwise() -> None:
    """Its overlays have folders that cannot be renamed."""
    staging, reason = choose_staging(listing(), None, rootless=True)
    assert staging == "copy"
    assert "cannot be renamed" in (reason or "")
    assert choose_staging(listing(), "overlay", rootless=True) == ("overlay", None)
    assert choose_staging(listing(), "copy", rootless=True) == ("copy", None)
    assert choose_staging(listing(), None, fast_file=True, rootless=True) == ("bind", None)


def test_a_selection_is_gathered_first_so_that_nothing_leads_out() -> None:
    assert choose_staging(listing("l leads out", whole_tree=False), None) == ("overlay", None)


@pytest.mark.parametrize("requested", [None, "overlay", "copy"])
def test_an_engine_elsewhere_is_sent_everything(requested: Staging | None) -> None:
    assert choose_staging(listing("l leads out"), requested, shared=False) == ("send", None)
    assert choose_staging(listing(), requested, fast_file=True, shared=False) == ("send", None)
    remote = replace(listing(), root="")
    assert choose_staging(remote, requested, fast_file=True, no_fuse="far", shared=False) == ("send", "far")
    assert choose_staging(remote, requested, no_fuse="far", shared=False) == ("send", None)


def test_a_copy_that_was_asked_for_needs_no_reason() -> None:
    assert choose_staging(listing("l leads out"), "copy") == ("copy", None)
    assert choose_staging(listing(), "copy") == ("copy", None)
