"""DescribeLogGroups and DescribeLogStreams."""

from itertools import islice
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from smlocal.server.call import Call
from smlocal.server.logs.errors import invalid_parameter
from smlocal.server.logs.streams import GROUP, Stream, check_group, group_arn, stream_document, streams_in_order
from smlocal.server.logs.tokens import read_key_token
from smlocal.server.page_tokens import token_of
from smlocal.server.serving import Serving

if TYPE_CHECKING:
    from collections.abc import Iterable

_PAGE = 50

_Keyed = tuple[tuple[Any, ...], Stream]
"""A stream with what it is sorted by."""


def describe_log_groups(serving: Serving, call: Call) -> dict[str, Any]:
    """The group of training jobs: there is no other."""
    asked = call.parameters
    arn = group_arn(serving, call.region)
    identifiers = asked.get("logGroupIdentifiers")
    fits = (
        GROUP.startswith(asked.get("logGroupNamePrefix", ""))
        and asked.get("logGroupNamePattern", "").lower() in GROUP.lower()
        and (not identifiers or bool({GROUP, arn, f"{arn}:*"} & set(identifiers)))
        and asked.get("logGroupClass", "STANDARD") == "STANDARD"
    )
    group = {
        "logGroupName": GROUP,
        "creationTime": 0,
        "metricFilterCount": 0,
        "arn": f"{arn}:*",
        "storedBytes": 0,
        "logGroupClass": "STANDARD",
        "logGroupArn": arn,
    }
    return {"logGroups": [group] if fits else []}


def describe_log_streams(serving: Serving, call: Call) -> dict[str, Any]:
    """A page of streams. There is a token only if more follow: SDKs ask for the first page again and again."""
    asked = call.parameters
    check_group(serving, call)
    limit, descending = asked.get("limit", _PAGE), asked.get("descending", False)
    token, prefix = asked.get("nextToken"), asked.get("logStreamNamePrefix", "")
    if asked.get("orderBy") == "LastEventTime":
        if prefix:
            raise invalid_parameter("Cannot order by LastEventTime with a logStreamNamePrefix.")
        after = None if token is None else read_key_token(token, int, str)
        streams: Iterable[_Keyed] = sorted(
            (((_last_time(each), each.name), each) for each in streams_in_order(serving)),
            reverse=descending,
            key=itemgetter(0),
        )
    else:
        after = None if token is None else read_key_token(token, str)
        begin = None if after is None else after[0]
        ordered = streams_in_order(serving, prefix, descending=descending, begin=begin)
        streams = (((each.name,), each) for each in ordered)
    rest = (pair for pair in streams if after is None or (pair[0] < after if descending else pair[0] > after))
    found = list(islice(rest, limit + 1))
    page = found[:limit]
    return {
        "logStreams": [stream_document(each, serving, call.region) for _, each in page],
        **({"nextToken": token_of(*page[-1][0])} if len(found) > limit else {}),
    }


def _last_time(stream: Stream) -> int:
    times = stream.times()
    return 0 if times is None else times[1]
