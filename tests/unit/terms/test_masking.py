"""The text in place of a secret."""

from typing import Any

import pytest

from smlocal.terms.masking import (
    masked,
    masked_file,
    masked_request,
    masked_text,
    masked_words,
    without_passwords,
)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("postgres://u:hunter2@h:5432/db", "postgres://u:•••@h:5432/db"),
        ("postgresql+psycopg2://u:p@ss@h/db", "postgresql+psycopg2://u:•••@h/db"),
        ("mysql://u:p/ss@h/db", "mysql://u:•••@h/db"),
        ("redis://:hunter2@h:6379/0", "redis://:•••@h:6379/0"),
        ("smtp://me@x.com:hunter2@h", "smtp://me@x.com:•••@h"),
        ("amqp://a:b@h,amqp://c:d@h2", "amqp://a:•••@h,amqp://c:•••@h2"),
        ("'http://u:p@h' is not valid", "'http://u:•••@h' is not valid"),
        ("https://hunter2@github.com/x", "https://•••@github.com/x"),
        ("https://hunter2:@h/x", "https://•••@h/x"),
        ("https://h/p?token=hunter2&page=3#top", "https://h/p?token=•••&page=3#top"),
        ("https://b.s3/k?X-Amz-Signature=ab&versionId=3", "https://b.s3/k?X-Amz-Signature=•••&versionId=3"),
    ],
)
def test_urls_lose_their_secrets_and_nothing_else(text: str, shown: str) -> None:
    assert without_passwords(text) == shown
    assert without_passwords(shown) == shown


@pytest.mark.parametrize(
    "text",
    [
        "http://h:9000/a@b",
        "http://h:80",
        "s3://bucket/a:b@c",
        "ssh://me@host",
        "no url a:b@c",
        "https://h/x?page=3",
        "",
    ],
)
def test_urls_without_secrets_stay(text: str) -> None:
    assert without_passwords(text) == text


@pytest.mark.parametrize(
    ("name", "value", "shown"),
    [
        ("db_password", "hunter2", "•••"),
        ("DATABASE_URL", "postgres://u:hunter2@h/d", "postgres://u:•••@h/d"),
        ("db", '{"host": "h", "password": "hunter2"}', '{"host": "h", "password": "•••"}'),
        ("db", '[{"url": "x://u:hunter2@h"}]', '[{"url": "x://u:•••@h"}]'),
        ("layers", "[64,  32]", "[64,  32]"),
        ("broken", "{" * 2000, "•••"),
        ("max_tokens", "512", "512"),
    ],
)
def test_a_value_by_its_name_and_by_what_is_in_it(name: str, value: str, shown: str) -> None:
    assert masked(name, value) == shown


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("export API_TOKEN=hunter2; python x.py", "export API_TOKEN=•••"),
        ("python x.py --lr 0.1 --db-password hunter2", "python x.py --lr 0.1 --db-password •••"),
        ("smlocal run -p db_password=hunter2", "smlocal run -p db_password=•••"),
        ("java -Dpassword=hunter2 x", "java -Dpassword=•••"),
        ("X='a b' PASSWORD='hunter2 y'", "X='a b' PASSWORD=•••"),
        ('  "db_password": "hunter2', '  "db_password": •••'),
        ("a: b\n  password: hunter2\nc: d", "a: b\n  password: •••\nc: d"),
        ('echo "$API_TOKEN" --token=$TOKEN --use-auth=true max_tokens: 5', None),
        ("--password --epochs 3", None),
    ],
)
def test_commands_and_lines_of_files(text: str, shown: str | None) -> None:
    assert masked_text(text) == (text if shown is None else shown)


def test_an_option_and_its_value_may_be_two_words() -> None:
    words = ["--epochs", "3", "--password", "hunter2", "--token=hunter2", "sh", "-c", "TOKEN=hunter2 x"]
    assert masked_words(words) == ["--epochs", "3", "--password", "•••", "--token=•••", "sh", "-c", "TOKEN=•••"]


def test_a_request_keeps_its_form() -> None:
    request: dict[str, Any] = {
        "AlgorithmSpecification": {
            "TrainingImage": "image",
            "ContainerArguments": ["--token", "hunter2"],
            "MetricDefinitions": [{"Name": "token_loss", "Regex": "token=([0-9.]+)"}],
        },
        "HyperParameters": {"db_password": "hunter2", "epochs": "3"},
        "Tags": [{"Key": "api-key", "Value": "hunter2"}, {"Key": "team", "Value": "blue"}],
        "PipelineParameters": [{"Name": "ApiKey", "Value": "hunter2"}, {"Name": "Stage", "Value": "blue"}],
        "OutputDataConfig": {"KmsKeyId": "alias/mine", "S3OutputPath": "https://u:hunter2@h/b"},
        "ResourceConfig": {"InstanceCount": 1},
        "workerPoolSpecs": [{"containerSpec": {"args": ["--token", "hunter2", "--epochs=3"]}}],
    }
    shown = masked_request(request)
    assert "hunter2" not in str(shown)
    assert "hunter2" in str(request)
    assert shown["AlgorithmSpecification"] == {
        **request["AlgorithmSpecification"],
        "ContainerArguments": ["--token", "•••"],
    }
    assert shown["workerPoolSpecs"] == [{"containerSpec": {"args": ["--token", "•••", "--epochs=3"]}}]
    assert shown["HyperParameters"] == {"db_password": "•••", "epochs": "3"}
    assert [tag["Value"] for tag in shown["Tags"]] == ["•••", "blue"]
    assert [each["Value"] for each in shown["PipelineParameters"]] == ["•••", "blue"]
    assert shown["OutputDataConfig"] == {"KmsKeyId": "alias/mine", "S3OutputPath": "https://u:•••@h/b"}


def test_a_file_without_secrets_is_shown_byte_for_byte() -> None:
    content = b'{"epochs": "3" }'
    assert masked_file("/opt/ml/input/config/hyperparameters.json", content) is content
    assert masked_file("/x.json", b'{"db_password":"hunter2"}') == '{"db_password":"•••"}'.encode()
    assert masked_file("/opt/ml/input/data/train-manifest", b"password: x") == b"password: x"
