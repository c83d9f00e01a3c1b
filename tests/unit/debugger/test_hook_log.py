from pathlib import Path

from smlocal.debugger.job_rules import disabled_hook

SAID = """[2026-11-27 23:57:59.185 algo-1:9 INFO hook.py:259] Saving to /opt/ml/output/tensors
[2026-11-27 23:57:59.186 algo-1:9 ERROR error_handling_agent.py:116] SMDebug error has occurred, disabling SMDebug for \
the rest of the training job. Stack trace:
[2026-11-27 23:57:59.186 algo-1:9 ERROR error_handling_agent.py:117] no tostring
Traceback (most recent call last):
  File "/usr/local/lib/smdebug/core/error_handling_agent.py", line 110, in error_handling_agent
    return func(*args, **kwargs)
           ^^^^^^^^^^^^^^^^^^^^^
AttributeError: no tostring
end
"""


def write(folder: Path, host: str, text: str) -> None:
    (folder / "logs").mkdir(exist_ok=True)
    (folder / "logs" / f"{host}.log").write_text(text)


def test_a_hook_that_disabled_itself(tmp_path: Path) -> None:
    write(tmp_path, "algo-1", "")
    write(tmp_path, "algo-2", SAID)
    found = disabled_hook(str(tmp_path), ["algo-1", "algo-2"])
    assert found is not None
    assert found.sentence == (
        "The hook of smdebug disabled itself (line 2 of the log of algo-2: AttributeError: no tostring), "
        "so no tensors were saved after that."
    )


def test_a_log_that_ends_with_it(tmp_path: Path) -> None:
    write(tmp_path, "algo-1", SAID.partition("Traceback")[0])
    found = disabled_hook(str(tmp_path), ["algo-1"])
    assert found is not None
    assert (found.line, found.error) == (2, "")


def test_other_logs_and_none(tmp_path: Path) -> None:
    write(tmp_path, "algo-1", "loss=0.5\n")
    assert disabled_hook(str(tmp_path), ["algo-1", "algo-2"]) is None
