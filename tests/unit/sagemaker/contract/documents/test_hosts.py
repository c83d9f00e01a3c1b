import json

from smlocal.sagemaker.contract.documents.config_files import homogeneous, resource_config
from smlocal.terms.json_size import compact


def test_one_host_gives_the_280_bytes_that_were_seen() -> None:
    hosts = homogeneous(1, "ml.g4dn.12xlarge")
    content = compact(resource_config(hosts[0], hosts, keys="without-topology"))
    assert len(content) == 280
    assert content == (
        b'{"current_host":"algo-1","current_instance_type":"ml.g4dn.12xlarge",'
        b'"current_group_name":"homogeneousCluster","hosts":["algo-1"],"instance_groups":'
        b'[{"instance_group_name":"homogeneousCluster","instance_type":"ml.g4dn.12xlarge","hosts":["algo-1"]}],'
        b'"network_interface_name":"eth0"}'
    )


def test_hosts_are_sorted_as_strings() -> None:
    hosts = homogeneous(11, "ml.m5.large")
    document = resource_config(hosts[10], hosts)
    assert document["hosts"][:4] == ["algo-1", "algo-10", "algo-11", "algo-2"]
    assert document["current_host"] == "algo-11"
    assert document["instance_groups"][0]["hosts"][:3] == ["algo-1", "algo-2", "algo-3"]


def test_topology_is_null_and_last() -> None:
    hosts = homogeneous(1, "ml.m5.large")
    content = compact(resource_config(hosts[0], hosts))
    assert content.endswith(b',"network_interface_name":"eth0","topology":null}')


def test_the_file_of_older_jobs_has_three_keys() -> None:
    hosts = homogeneous(3, "ml.m5.large")
    content = compact(resource_config(hosts[0], hosts, keys="three-keys", interface="eth1"))
    # The document of the developer guide of 2018.
    assert json.loads(content) == {
        "current_host": "algo-1",
        "hosts": ["algo-1", "algo-2", "algo-3"],
        "network_interface_name": "eth1",
    }
    assert list(json.loads(content)) == ["current_host", "hosts", "network_interface_name"]
