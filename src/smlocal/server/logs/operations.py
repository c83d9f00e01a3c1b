"""The operations of CloudWatch Logs that are emulated."""

from collections.abc import Mapping

from smlocal.server.logs.filtering import filter_log_events
from smlocal.server.logs.listing import describe_log_groups, describe_log_streams
from smlocal.server.logs.reading import get_log_events
from smlocal.server.operations import Handler

HANDLERS: Mapping[str, Handler] = {
    "DescribeLogGroups": describe_log_groups,
    "DescribeLogStreams": describe_log_streams,
    "FilterLogEvents": filter_log_events,
    "GetLogEvents": get_log_events,
}
