from smlocal.sagemaker.contract.outcome.reasons import algorithm_error, cannot_start, client_error


def test_no_failure_file_leaves_the_message_empty() -> None:
    assert algorithm_error(b"", 1) == "AlgorithmError: , exit code: 1"


def test_a_long_ascii_file_takes_the_suffix_with_it() -> None:
    reason = algorithm_error(b"x" * 2000, 1)
    assert len(reason) == 1024
    assert reason == "AlgorithmError: " + "x" * 1008


def test_bytes_are_cut_before_characters() -> None:
    # 900 characters in exactly 1024 bytes: 62 of three bytes and 838 of one.
    text = ("─" * 62 + "x" * 838).encode()
    assert len(text) == 1024
    reason = algorithm_error(text + b"more that is never used", 1)
    assert len(reason) == 930
    assert reason.endswith(", exit code: 1")


def test_a_character_that_the_cut_goes_through_is_dropped() -> None:
    reason = algorithm_error(b"x" * 900 + "─".encode() * 42, 1)
    assert "\ufffd" not in reason
    assert reason == "AlgorithmError: " + "x" * 900 + "─" * 41 + ", exit code: 1"


def test_wrong_bytes_are_replaced_also_at_the_end_of_a_short_file() -> None:
    assert algorithm_error(b"a\xffb", 3) == "AlgorithmError: a\ufffdb, exit code: 3"
    assert algorithm_error(b"ab\xe2\x94", 3) == "AlgorithmError: ab\ufffd, exit code: 3"


def test_newlines_stay() -> None:
    assert algorithm_error(b"a\nb\n", 1) == "AlgorithmError: a\nb\n, exit code: 1"


def test_client_errors_are_cut_too() -> None:
    assert client_error("x" * 2000) == "ClientError: " + "x" * 1011


def test_a_process_that_cannot_start_is_told_in_the_runtimes_words() -> None:
    assert cannot_start("OCI runtime create failed: no train") == (
        "ClientError: Artifact upload failed:API error (400): OCI runtime create failed: no train"
    )
