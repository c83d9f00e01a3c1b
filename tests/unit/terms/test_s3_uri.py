import pytest

from smlocal.terms.listing import bucket_name, may_be_bucket, s3_form, split_s3_uri


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


ACCESS_POINTS = [
    "arn:aws:s3:us-east-1:123456789012:accesspoint/name",
    "arn:aws:s3:us-east-1:123456789012:accesspoint:name",
    "arn:aws-cn:s3:cn-north-1:123456789012:accesspoint/na-me",
    "arn:aws:s3::123456789012:accesspoint/mfzwi23gnjvgw.mrap",
    "arn:aws:s3-object-lambda:us-east-1:123456789012:accesspoint/name",
    "arn:aws:s3-outposts:us-east-1:123456789012:outpost/op-1/accesspoint/name",
    "arn:aws:s3-outposts:us-east-1:123456789012:outpost:op-1:accesspoint:name",
]


@pytest.mark.parametrize("bucket", ["b", "my.bucket", *ACCESS_POINTS])
@pytest.mark.parametrize("key", ["", "a", "a/c", "a//c/", "/a", "accesspoint/a"])
def test_uris_are_split_where_the_bucket_ends(bucket: str, key: str) -> None:
    bucket_uri, rest = split_s3_uri(f"s3://{bucket}/{key}")
    assert (bucket_uri, rest) == (f"s3://{bucket}/", key)
    assert bucket_name(bucket_uri) == bucket
    assert split_s3_uri(f"s3://{bucket}") == (f"s3://{bucket}/", "")


def test_an_arn_of_something_else_is_no_access_point() -> None:
    assert split_s3_uri("s3://arn:aws:iam::123456789012:role/name/key") == (
        "s3://arn:aws:iam::123456789012:role/",
        "name/key",
    )


@pytest.mark.parametrize(
    ("name", "possible"),
    [
        ("my-bucket.of.1", True),
        ("Old_Bucket", True),
        ("arn:aws:s3:eu-west-1:123456789012:accesspoint/name", True),
        ("No Bucket!", False),
        ("s3://bucket", False),
        ("bucket/key", False),
        ("ab", False),
        ("bucket\n", False),
        ("", False),
    ],
)
def test_what_may_be_a_bucket(name: str, possible: bool) -> None:
    assert may_be_bucket(name) is possible
