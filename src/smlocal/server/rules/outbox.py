"""The part of SNS that the actions of debugger rules use. Messages are kept in the job's history and sent to nobody."""

import json
import re
from collections.abc import Mapping
from typing import Any
from uuid import uuid4

from smlocal.platforms.sagemaker.contract.identity import partition
from smlocal.server.call import Call, ServiceError
from smlocal.server.rules.rule_serving import RuleServing

_DOCUMENT = "rule-topics"
_TOPIC_NAME = re.compile(r"[A-Za-z0-9_-]{1,256}")
_PROTOCOLS = {"email", "sms"}


def create_topic(serving: RuleServing, call: Call) -> dict[str, Any]:
    """The same topic for the same name."""
    name = call.parameters["Name"]
    if not _TOPIC_NAME.fullmatch(name):
        raise _invalid("Topic Name")
    account = serving.store.get(serving.job).arn.split(":")[4]
    arn = f"arn:{partition(call.region)}:sns:{call.region}:{account}:{name}"
    with serving.lock:
        topics = _topics(serving)
        if arn not in topics:
            serving.store.put_document(serving.job, _DOCUMENT, {**topics, arn: []})
    return {"TopicArn": arn}


def subscribe(serving: RuleServing, call: Call) -> dict[str, Any]:
    """Nobody has to confirm a subscription."""
    asked = call.parameters
    if asked["Protocol"] not in _PROTOCOLS:
        raise _invalid(f"Protocol {asked['Protocol']}: smlocal has {', '.join(sorted(_PROTOCOLS))}")
    if not asked.get("Endpoint"):
        raise _invalid("Endpoint")
    entry = {
        "SubscriptionArn": f"{asked['TopicArn']}:{uuid4()}",
        "Protocol": asked["Protocol"],
        "Endpoint": asked["Endpoint"],
        "FilterPolicy": _filter_policy((asked.get("Attributes") or {}).get("FilterPolicy", "{}")),
    }
    with serving.lock:
        topics = _topics(serving)
        same = [each for each in _of(topics, asked) if _without_arn(each) == _without_arn(entry)]
        if not same:
            topics[asked["TopicArn"]].append(entry)
            serving.store.put_document(serving.job, _DOCUMENT, topics)
    return {"SubscriptionArn": (same or [entry])[0]["SubscriptionArn"]}


def list_subscriptions(serving: RuleServing, _: Call) -> dict[str, Any]:
    """Those of the rules of this job."""
    listed = [
        {
            "SubscriptionArn": each["SubscriptionArn"],
            "Owner": topic.split(":")[4],
            "Protocol": each["Protocol"],
            "Endpoint": each["Endpoint"],
            "TopicArn": topic,
        }
        for topic, entries in _topics(serving).items()
        for each in entries
    ]
    return {"Subscriptions": listed}


def publish(serving: RuleServing, call: Call) -> dict[str, Any]:
    """Keep the message for each subscription whose filter lets it through."""
    asked = call.parameters
    attributes = {name: value.get("StringValue", "") for name, value in (asked.get("MessageAttributes") or {}).items()}
    for each in _of(_topics(serving), asked):
        if all(attributes.get(name) in allowed for name, allowed in each["FilterPolicy"].items()):
            message = {
                "Endpoint": each["Endpoint"],
                "Subject": asked.get("Subject", ""),
                "Message": asked["Message"],
            }
            serving.record(call, each["Protocol"], message)
    return {"MessageId": str(uuid4())}


def _topics(serving: RuleServing) -> dict[str, list[dict[str, Any]]]:
    """The subscriptions of each topic."""
    return dict(serving.store.document(serving.job, _DOCUMENT) or {})


def _of(topics: Mapping[str, list[dict[str, Any]]], asked: Mapping[str, Any]) -> list[dict[str, Any]]:
    if asked.get("TopicArn") not in topics:
        raise ServiceError("NotFound", "Topic does not exist", status=404)
    return topics[asked["TopicArn"]]


def _without_arn(subscription: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in subscription.items() if key != "SubscriptionArn"}


def _filter_policy(text: str) -> dict[str, list[str]]:
    """Only texts that have to be equal, as the debugger's library writes them."""
    try:
        policy = json.loads(text)
    except (ValueError, RecursionError):
        policy = None
    if not isinstance(policy, dict) or not all(
        isinstance(allowed, list) and all(isinstance(each, str) for each in allowed) for allowed in policy.values()
    ):
        raise _invalid("FilterPolicy: smlocal reads lists of texts")
    return policy


def _invalid(what: str) -> ServiceError:
    return ServiceError("InvalidParameter", f"Invalid parameter: {what}")
