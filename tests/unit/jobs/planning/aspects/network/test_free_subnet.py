"""Where a job's network may lie, and who listens where, from the kernel's tables."""

from pathlib import Path

import pytest

from smlocal.engine.interface import Network
from smlocal.errors import NetworkRangeError
from smlocal.jobs.planning.aspects.network.look import free_subnet, loopback_only_services, routed_subnets

RUN = "00000000"


def network(*subnets: str, name: str = "other") -> Network:
    return Network(id=name, name=name, subnets=subnets, gateway="", labels={})


def test_what_networks_have_is_left_alone() -> None:
    taken = [network("10.0.0.0/24"), network("172.17.0.0/16", "10.0.1.128/25")]
    assert free_subnet(taken, within="10.0.0.0/16", hosts=2, run_id=RUN, routes=False) == "10.0.2.0/24"


def test_a_range_without_room() -> None:
    with pytest.raises(NetworkRangeError, match=r"10\.0\.0\.0/30 has no room for 2 hosts") as caught:
        free_subnet([], within="10.0.0.0/30", hosts=2, run_id=RUN)
    assert caught.value.exit_code == 3


def test_a_range_that_is_taken() -> None:
    taken = [network(f"10.0.{n}.0/24", name=f"net-{n}") for n in range(8)]
    with pytest.raises(NetworkRangeError, match=r"free addresses for the job's network in 10\.0\.0\.0/21") as caught:
        free_subnet([*taken, network("10.9.0.0/16")], within="10.0.0.0/21", hosts=2, run_id=RUN, routes=False)
    assert caught.value.details[0] == "net-0: 10.0.0.0/24"
    assert caught.value.details[-1] == "and 3 more"
    assert "Local.NetworkRange" in caught.value.remedy[0]


HEAD = "Iface\tDestination\tGateway\tFlags\tRefCnt\tUse\tMetric\tMask\tMTU\tWindow\tIRTT\n"


def test_routes_of_this_machine(tmp_path: Path) -> None:
    table = tmp_path / "route"
    rows = [("00000000", "00000000"), ("00000000", "00000080"), ("000012C6", "0000FFFF"), ("0100A8C0", "FFFFFFFF")]
    table.write_text(HEAD + "".join(f"tun0\t{to}\t00000000\t0001\t0\t0\t0\t{mask}\t0\t0\t0\n" for to, mask in rows))
    assert routed_subnets(str(table)) == ["198.18.0.0/16", "192.168.0.1/32"]
    assert routed_subnets(str(tmp_path / "none")) == []


def listening(address: str, port: int, state: str = "0A") -> str:
    return f"   0: {address}:{port:04X} 00000000:0000 {state} 00000000:00000000 00:00000000 00000000 0 0 1 1\n"


@pytest.mark.parametrize(
    ("addresses", "alone"),
    [
        (["0100007F"], True),
        (["0100007F", "00000000000000000000000001000000"], True),
        (["0000000000000000FFFF00000100007F"], True),
        (["00000000"], False),
        (["00000000000000000000000000000000"], False),
        (["0100007F", "020200C0"], False),
        ([], False),
    ],
)
def test_who_listens_on_loopback_alone(tmp_path: Path, addresses: list[str], alone: bool) -> None:
    tables = tmp_path / "tcp", tmp_path / "tcp6"
    for table, length in zip(tables, (8, 32), strict=True):
        rows = [listening(address, 9000) for address in addresses if len(address) == length]
        table.write_text("  sl  local_address\n" + "".join(rows) + listening("00000000"[:length], 9000, state="01"))
    endpoints = {"s3": "http://localhost:9000", "sts": "http://elsewhere:9000", "sqs": "http://localhost"}
    seen = loopback_only_services(endpoints, [*map(str, tables), str(tmp_path / "none")])
    assert seen == (("s3",) if alone else ())
