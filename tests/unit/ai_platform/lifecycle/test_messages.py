"""The service's words."""

from smlocal.ai_platform.lifecycle import messages


def test_a_user_exception_names_replica_code_and_reason() -> None:
    assert messages.user_exception("workerpool1-1", 1, messages.ERROR) == (
        "The replica workerpool1-1 exited with a non-zero status of 1. Termination reason: Error."
    )


def test_out_of_memory_names_replica_and_code() -> None:
    assert messages.out_of_memory("master 0", 137) == (
        "The replica master 0 ran out of memory and exited with a non-zero status of 137."
    )


def test_a_stock_out_names_the_region_and_the_advice_of_either_page() -> None:
    assert messages.stock_out("us-central1", messages.OTHER_REGION_OR_K80) == (
        "Resources are insufficient in region: us-central1. Try a different region. "
        "If you use K80, consider using P100 or V100 instead."
    )
    assert messages.stock_out("europe-west4", messages.OTHER_REGION_OR_ACCELERATOR) == (
        "Resources are insufficient in region: europe-west4. Try a different region or use a different accelerator."
    )


def test_the_last_traceback_of_the_log_follows_a_message() -> None:
    first = "Traceback (most recent call last):\n  old\nOSError\n"
    log = f"step 1\n{first}Traceback (most recent call last):\n  new\nKeyError: 1\n"
    assert messages.with_traceback("Termination reason: Error.", log) == (
        "Termination reason: Error. \nTraceback (most recent call last):\n  new\nKeyError: 1"
    )
    assert messages.with_traceback("A.", "no Traceback (most recent call last): here") == "A."
    assert messages.with_traceback("A.", "") == "A."
