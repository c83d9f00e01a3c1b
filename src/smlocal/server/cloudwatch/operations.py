"""The operations of CloudWatch that are emulated."""

from collections.abc import Mapping

from smlocal.server.cloudwatch.data_queries import get_metric_data
from smlocal.server.cloudwatch.listing import list_metrics
from smlocal.server.cloudwatch.one_metric import get_metric_statistics
from smlocal.server.operations import Handler

HANDLERS: Mapping[str, Handler] = {
    "GetMetricData": get_metric_data,
    "GetMetricStatistics": get_metric_statistics,
    "ListMetrics": list_metrics,
}
