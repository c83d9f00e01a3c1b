"""The differences that count, and those that do not: a case for each rule."""

import json
from typing import Any

import pytest
from tests.unit.service.conformance.documents import Document, host, whole

from smlocal.errors import ConformanceDocumentError
from smlocal.service.conformance.differences import ABSENT, DIFFERENCE_RULES, compare

SAME = host(
    Tree={"/opt/ml": {"Kind": "folder", "Mode": "0755", "AgeSeconds": 1.5}},
    Process={"Capabilities": {"CapEff": "00000000a80425fb"}, "User": [0, 0]},
    Network={"HostsFile": ["127.0.0.1\tlocalhost"], "Routes": [{"Interface": "eth0", "Gateway": "10.0.0.1"}]},
    Config={"hyperparameters.json": '{"a":"1","b":"2"}', "broken.json": "{"},
)

EXPECTED: dict[str, tuple[Document, Document]] = {
    "times": ({"Tree": {"/opt/ml": {"AgeSeconds": 1}}}, {"Tree": {"/opt/ml": {"AgeSeconds": 9}}}),
    "seconds-to-kill": (
        {"Signals": {"SecondsToTheLastSignOfLife": 119.8}},
        {"Signals": {"SecondsToTheLastSignOfLife": 121}},
    ),
    "machine": ({"Kernel": {"Processors": 2}}, {"Kernel": {"Processors": 96}}),
    "base-image": ({"Python": "3.11.2"}, {"Python": "3.7.16"}),
    "sizes-with-names": (
        {"Tree": {"/opt/ml/input/config/init-config.json": {"Size": 1}}},
        {"Tree": {"/opt/ml/input/config/init-config.json": {"Size": 2}}},
    ),
    "order-of-hyperparameters": (
        {"Config": {"hyperparameters.json": '{"a":"1","b":"2"}'}},
        {"Config": {"hyperparameters.json": '{"b":"2","a":"1"}'}},
    ),
    "job-name": ({"Text": "of job-a"}, {"Text": "of job-b"}),
    "region": ({"Text": "us-east-1"}, {"Text": "eu-west-1"}),
    "account": ({"Text": "000000000000"}, {"Text": "<account>"}),
    "host-names": ({"Text": "10.0.0.5 ip-10-0-0-5.ec2.internal"}, {"Text": "10.1.2.3 ip-10-1-2-3.ec2.internal"}),
    "locations": ({"Text": "s3://<bucket>/a"}, {"Text": "file:///home/me/a"}),
}


def other(**more: Any) -> Document:
    variables = {"TRAINING_JOB_NAME": "job-b", "AWS_REGION": "eu-west-1"}
    return {**host(**more), "Environment": variables}


def test_a_document_and_itself_are_alike() -> None:
    found = compare(whole(SAME), whole(SAME))
    assert (found.differences, found.expected) == ((), ())


@pytest.mark.parametrize("rule", [rule.id for rule in DIFFERENCE_RULES])
def test_each_rule(rule: str) -> None:
    first, second = EXPECTED[rule]
    found = compare(whole(host(**first)), whole(other(**second)))
    assert not found.differences
    assert rule in {each.rule for each in found.expected}


@pytest.mark.parametrize(
    ("first", "second", "path", "values"),
    [
        ({"Tree": {"/a": {"Mode": "0755"}}}, {"Tree": {"/a": {"Mode": "0644"}}}, "/a.Mode", ("0755", "0644")),
        ({"Tree": {"/a": {"Kind": "file"}}}, {"Tree": {}}, "/a.Kind", ("file", ABSENT)),
        ({"Limits": {"x": None}}, {"Limits": {"x": 0}}, "x", (None, 0)),
        ({"Limits": {"x": 1}}, {"Limits": {"x": True}}, "x", (1, True)),
        ({"Network": {"HostsFile": ["a", "b"]}}, {"Network": {"HostsFile": ["b"]}}, "HostsFile", (["a", "b"], ["b"])),
        (
            {"Signals": {"SecondsToTheLastSignOfLife": 30.1}},
            {"Signals": {"SecondsToTheLastSignOfLife": 120}},
            "SecondsToTheLastSignOfLife",
            (30.1, 120),
        ),
        (
            {"Network": {"Routes": [{"Mask": "0.0.0.0"}]}},
            {"Network": {"Routes": [{"Mask": "255.0.0.0"}]}},
            "Routes.1.Mask",
            ("0.0.0.0", "255.0.0.0"),
        ),
        (
            {"Process": {"Capabilities": {"CapEff": "1"}}},
            {"Process": {"Capabilities": {"CapEff": "3"}}},
            "Capabilities.CapEff",
            (["chown"], ["chown", "dac_override"]),
        ),
        (
            {"Config": {"resourceconfig.json": '{"a":1}'}},
            {"Config": {"resourceconfig.json": '{"a": 1}'}},
            "resourceconfig.json.(layout)",
            ("compact", "with spaces, or escaped"),
        ),
        (
            {"Config": {"resourceconfig.json": '{"a":1,"b":2}'}},
            {"Config": {"resourceconfig.json": '{"b":2,"a":1}'}},
            "resourceconfig.json.(order)",
            (["a", "b"], ["b", "a"]),
        ),
    ],
)
def test_what_counts(first: Document, second: Document, path: str, values: tuple[Any, Any]) -> None:
    (found,) = compare(whole(host(**first)), whole(host(**second))).differences
    assert (found.first, found.second) == values
    assert found.path == path
    assert found.group == next(iter(first))


def test_manifests_are_compared_below_their_prefixes() -> None:
    first = host(Manifests={"a-manifest": "one/a\ns3://<bucket>/one/a/x\ns3://<bucket>/one/a/y\n"})
    second = host(Manifests={"a-manifest": "two/b/a\nfile:///two/b/a/x\nfile:///two/b/a/y\n"})
    found = compare(whole(first), whole(second))
    assert not found.differences
    assert [(each.path, each.rule) for each in found.expected] == [("a-manifest.(prefix)", "locations")]
    third = host(Manifests={"a-manifest": "two\ns3://<bucket>/two/x\n"})
    (seen,) = compare(whole(first), whole(third)).differences
    assert (seen.path, seen.first, seen.second) == ("a-manifest.(objects)", ["/x", "/y"], ["/x"])


def test_the_same_difference_on_several_hosts_is_one() -> None:
    first = whole(host(Limits={"x": 1}), host("algo-2", Limits={"x": 1}))
    second = whole(host(Limits={"x": 2}), host("algo-2", Limits={"x": 2}))
    (found,) = compare(first, second).differences
    assert found.where == ("everything/algo-1", "everything/algo-2")


def test_a_host_that_only_one_has() -> None:
    (found,) = compare(whole(host(), host("algo-2")), whole(host())).differences
    assert (found.group, found.path, found.second) == ("Hosts", "algo-2", ABSENT)


def test_ends_are_compared_where_both_are_known() -> None:
    known = whole(host(), Outcome={"FailureReason": "AlgorithmError: , exit code: 1"})
    assert not compare(known, whole(host())).differences
    (found,) = compare(known, whole(host(), Outcome={"FailureReason": "AlgorithmError: , exit code: 2"})).differences
    assert (found.group, found.where) == ("Outcome", ("everything",))


def test_jobs_that_only_one_has_are_named_and_none_in_common_is_an_error() -> None:
    both = whole(host())
    both["Jobs"]["failed"] = {"Hosts": {"algo-1": host(case="failed")}}
    found = compare(both, whole(host()))
    assert (found.only_first, found.only_second, found.differences) == (("failed",), (), ())
    with pytest.raises(ConformanceDocumentError, match="no job in common"):
        compare(whole(host(), case="stopped"), whole(host()))


def test_a_document_that_is_very_deep() -> None:
    deep: Any = {}
    for _ in range(900):
        deep = {"x": deep}
    assert not compare(whole(host(Tree=deep)), whole(host(Tree=deep))).differences


def test_strange_contents_are_compared_too() -> None:
    strange = host(Config={"a": 5}, Process={"Capabilities": {"CapEff": None}}, Environment="none")
    found = compare(whole(strange), whole(host()))
    json.dumps([each.path for each in found.differences])
    assert {each.group for each in found.differences} >= {"Config", "Environment"}
