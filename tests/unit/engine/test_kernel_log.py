"""Records as Linux 6.18 has them: with Docker, with systemd below it, with Podman, and those that tell of others."""

import pytest

from smlocal.engine.documents import is_kill_in

ID = "c9aedb55" * 8
OTHER = "38b1f2aa" * 8
GROUPS = "nodemask=(null),cpuset={id},mems_allowed=0,oom_memcg={limited},task_memcg={ended},task=tail,pid=15674,uid=0"


def record(limited: str, ended: str, *, begins: str = "6,1228658,84770104145,-;oom-kill:") -> bytes:
    """The record of a kill that a process in our container brought about, whichever process was killed for it."""
    groups = GROUPS.format(id=ID, limited=limited, ended=ended)
    return f"{begins}constraint=CONSTRAINT_MEMCG,{groups}\n".encode()


@pytest.mark.parametrize(
    ("said", "told"),
    [
        (record(f"/docker/{ID}", f"/docker/{ID}"), True),
        (record(f"/system.slice/docker-{ID}.scope", f"/system.slice/docker-{ID}.scope/deep"), True),
        (record("/training.slice", f"/machine.slice/libpod-{ID}.scope/container"), True),
        (record(f"/docker/{OTHER}", f"/docker/{OTHER}"), False),
        (record(f"/docker/{ID}", f"/docker/{ID}", begins="6,1,2,-;program says: oom-kill:"), False),
        (f"6,1228658,84770104145,-;Memory cgroup stats for /docker/{ID}:\n".encode(), False),
        (b"", False),
        (b"6,1,2,-;oom-kill:\xff", False),
    ],
)
def test_whose_memory_ran_out(said: bytes, told: bool) -> None:
    assert is_kill_in(said, ID) is told
