import pytest

from smlocal.jobs.data_parallel.package import search_paths


@pytest.mark.parametrize(
    ("given", "image", "path", "python_path"),
    [
        ({}, {}, "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:OURS/bin", "OURS/python"),
        ({}, {"PATH": "/opt/bin", "PYTHONPATH": "/code"}, "/opt/bin:OURS/bin", "/code:OURS/python"),
        ({"PATH": "/own"}, {"PATH": "/opt/bin"}, "/own:OURS/bin", "OURS/python"),
        ({"PYTHONPATH": "/a:/b"}, {"PATH": "/bin", "PYTHONPATH": "/code"}, "/bin:OURS/bin", "/a:/b:OURS/python"),
    ],
)
def test_the_stand_in_comes_last(given: dict[str, str], image: dict[str, str], path: str, python_path: str) -> None:
    assert search_paths(given, image) == {
        "PATH": path.replace("OURS", "/opt/smlocal/distributed"),
        "PYTHONPATH": python_path.replace("OURS", "/opt/smlocal/distributed"),
    }
