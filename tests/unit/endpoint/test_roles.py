import re

from smlocal.endpoint.roles import role_arn, role_id, session_arn


def test_arns_have_the_partition_of_the_region() -> None:
    assert role_arn("mine", account="111122223333", region="cn-north-1") == "arn:aws-cn:iam::111122223333:role/mine"
    assert session_arn(account="1" * 12, region="eu-west-1") == f"arn:aws:sts::{'1' * 12}:assumed-role/smlocal/smlocal"


def test_an_id_has_the_form_of_the_service_and_belongs_to_one_role() -> None:
    ids = {role_id(name, account=account) for name in ("a", "b") for account in ("1" * 12, "2" * 12)}
    assert len(ids) == 4
    assert all(re.fullmatch(r"AROA[A-Z2-7]{17}", each) for each in ids)
