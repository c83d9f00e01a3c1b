import pytest

from smlocal.contract.s3_uri import s3_form


@pytest.mark.parametrize(
    ("uri", "form"),
    [
        ("https://my-bucket.s3.amazonaws.com/a/b", "s3://my-bucket/a/b"),
        ("https://my.bucket.s3.eu-west-1.amazonaws.com/a/b", "s3://my.bucket/a/b"),
        ("https://my-bucket.s3-eu-west-1.amazonaws.com/", "s3://my-bucket/"),
        ("https://my-bucket.s3.dualstack.us-gov-east-1.amazonaws.com/x", "s3://my-bucket/x"),
        ("https://my-bucket.s3.cn-north-1.amazonaws.com.cn/x", "s3://my-bucket/x"),
        ("https://s3.amazonaws.com/my-bucket/a/b", "s3://my-bucket/a/b"),
        ("https://s3.eu-west-1.amazonaws.com/my-bucket", "s3://my-bucket/"),
        ("https://s3-us-west-2.amazonaws.com/my-bucket/a%20b/%C3%A9", "s3://my-bucket/a b/é"),
    ],
)
def test_public_endpoints_in_both_styles(uri: str, form: str) -> None:
    assert s3_form(uri) == form


@pytest.mark.parametrize(
    "uri",
    [
        "s3://bucket/a%20b",
        "./data",
        "https://example.com/bucket/key",
        "https://s3.amazonaws.com.example.com/bucket/key",
        "https://evil.com/x.s3.amazonaws.com/key",
        "http://my-bucket.s3.amazonaws.com/a",
        "https://s3.amazonaws.com/",
    ],
)
def test_all_else_stays_as_it_is(uri: str) -> None:
    assert s3_form(uri) == uri
