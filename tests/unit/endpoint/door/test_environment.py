"""The environment of the program of `smlocal exec`."""

from smlocal.endpoint.door.environment import program_environment

ARGUMENTS = {"proxy": "http://smlocal:p@127.0.0.1:1", "bundle": "/b", "region": None, "key": ("id", "secret")}


def applied(environment: dict[str, str]) -> dict[str, str]:
    return program_environment(environment, **ARGUMENTS).applied_to(environment)  # type: ignore[arg-type]


def test_it_has_the_key_of_the_run_and_none_of_its_own() -> None:
    found = applied({"AWS_ACCESS_KEY_ID": "own", "AWS_SECRET_ACCESS_KEY": "own", "AWS_SESSION_TOKEN": "own"})
    assert (found["AWS_ACCESS_KEY_ID"], found["AWS_SECRET_ACCESS_KEY"]) == ("id", "secret")
    assert "AWS_SESSION_TOKEN" not in found
    assert found["HTTPS_PROXY"] == found["https_proxy"] == ARGUMENTS["proxy"]


def test_with_an_s3_server_of_its_own_it_keeps_its_key() -> None:
    found = applied({"AWS_ENDPOINT_URL_S3": "http://s3", "AWS_ACCESS_KEY_ID": "own", "AWS_SECRET_ACCESS_KEY": "own"})
    assert found["AWS_ACCESS_KEY_ID"] == "own"


def test_no_entry_of_no_proxy_hides_a_name_of_aws() -> None:
    found = applied({"NO_PROXY": "*,localhost,.api.aws, .amazonaws.com.cn,com,10.0.0.0/8,sts.amazonaws.eu"})
    assert found["NO_PROXY"] == "localhost,10.0.0.0/8"
