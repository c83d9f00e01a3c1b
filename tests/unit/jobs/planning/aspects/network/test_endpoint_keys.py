"""A URL of S3 with a key."""

from smlocal.jobs.planning.aspects.network.plan import endpoint_variables


def test_the_key_in_a_url_of_s3_becomes_variables() -> None:
    found = endpoint_variables({"s3": "http://key:a%2Fb@localhost:9000"}, this_machine="172.17.0.1")
    assert found == {
        "AWS_ENDPOINT_URL_S3": "http://172.17.0.1:9000",
        "AWS_ACCESS_KEY_ID": "key",
        "AWS_SECRET_ACCESS_KEY": "a/b",
    }


def test_other_services_have_no_key() -> None:
    url = "http://key:secret@there:9000"
    assert endpoint_variables({"sts": url}, this_machine="here") == {"AWS_ENDPOINT_URL_STS": url}
