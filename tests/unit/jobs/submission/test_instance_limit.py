"""Which jobs are refused, and in which words."""

import pytest

from smlocal.errors import InstanceLimitError
from smlocal.jobs.submission.scheduler import InstanceLimit


@pytest.mark.parametrize(
    ("refuse", "asked", "used", "refused"),
    [
        (False, 4, 100, False),
        (False, 5, 0, True),
        (True, 2, 2, False),
        (True, 2, 3, True),
        (True, 5, 0, True),
    ],
)
def test_which_jobs_are_refused(refuse: bool, asked: int, used: int, refused: bool) -> None:
    limit = InstanceLimit(instances=4, refuse=refuse)
    if not refused:
        limit.check(instance_type="ml.m5.large", asked=asked, used=used)
        return
    with pytest.raises(InstanceLimitError) as caught:
        limit.check(instance_type="ml.m5.large", asked=asked, used=used)
    assert caught.value.sentence.startswith(
        "The account-level service limit 'ml.m5.large for training job usage' is 4 Instances, with current utilization "
        f"of {used} Instances and a request delta of {asked} Instances. Please use AWS Service Quotas"
    )
