"""Which names are those of secrets, and which only look like it."""

import pytest

from smlocal.sagemaker.contract.coverage.members import TABLE
from smlocal.terms.masking import looks_secret

SECRETS = """\
db_password DB_PASSWORD dbPassword db.password db-password PGPASSWORD passwd PASSWORD_HASH Password2 pass_phrase
MYSQL_PWD DB_PWD DBPWD DB_PASS PASS SMTP_PASS DB_PW PASSPHRASE SSH_PASSPHRASE
GITHUB_PAT AZURE_DEVOPS_EXT_PAT GitHubPAT JWT USER_JWT jwtSecret
CREDS GCP_CREDS GCPCREDS CREDENTIALS GOOGLE_APPLICATION_CREDENTIALS db_credential SECRET SECRETS CLIENT_SECRET
clientsecret AWS_SECRET_ACCESS_KEY AWS_ACCESS_KEY_ID AWS_SESSION_TOKEN
API_TOKEN HF_TOKEN HFTOKEN HUGGING_FACE_HUB_TOKEN TOKEN token token_2 HF_TOKEN_PROD INPUT_TOKEN API_TOKENS _authToken
API_KEY apiKey APIKey api_keys API_KEY_PROD OPENAI_API_KEY wandb-key WANDBAPIKEY KEY ssh_key PRIVATE_KEY_PEM LICENSE_KEY
AUTH BASIC_AUTH REDIS_AUTH AUTHORIZATION auth.header OAUTH_TOKEN bearer
SENTRY_DSN DATABASE_DSN dsn SLACK_WEBHOOK_URL AZURE_STORAGE_CONNECTION_STRING CONN_STR
"""
HARMLESS = """\
max_tokens max_new_tokens num_tokens tokens tokens_per_batch special_tokens tokenized tokenizer tokenizer_name
pad_token_id eos_token bos_token image_token token_type_ids token_dropout token_embedding_dim
key_dim key_size num_key_value_heads n_key_heads keypoints keyword keywords monkey hotkey turkey
sort_key primary_key partition_key label_key public_key kms_key kms_key_id KmsKeyId s3_key
author authors author_name authority patience pattern path PATH patch adapter pathway file_pat pat_file spawn
compass bypass bypass_words pass_weight passes num_passes forward_pass secretary credit accredited
password_file PASSWORD_FILE AWS_SHARED_CREDENTIALS_FILE TOKEN_URL secret_name SECRET_ARN password_length PWD_COUNT
epochs lr learning_rate sagemaker_program sagemaker_submit_directory sagemaker_region sagemaker_container_log_level
"""


@pytest.mark.parametrize("name", SECRETS.split())
def test_the_name_of_a_secret(name: str) -> None:
    assert looks_secret(name)
    assert looks_secret(name, "/x" if name == "TOKEN" else "hunter2")


@pytest.mark.parametrize("name", [*HARMLESS.split(), "", "1", "_"])
def test_a_name_that_is_not(name: str) -> None:
    assert not looks_secret(name)
    assert not looks_secret(name, "hunter2")


@pytest.mark.parametrize("member", sorted({name.rpartition(".")[2].removesuffix("[]") for name in TABLE} - {"Key"}))
def test_no_member_of_a_request_is_taken_for_one(member: str) -> None:
    """But for the key of a tag, which is looked at together with its value."""
    assert not looks_secret(member)


@pytest.mark.parametrize(
    ("name", "value", "secret"),
    [
        ("PWD", "/opt/ml/code", False),
        ("OLDPWD", "~/work", False),
        ("pwd", "./data", False),
        ("PWD", "hunter2", True),
        ("DB_PWD", "/hunter2", True),
        ("use_auth_token", "true", False),
        ("use_auth_token", '"False"', False),
        ("HF_TOKEN", "", False),
        ("HF_TOKEN", "none", False),
        ("db_password", "12345", True),
    ],
)
def test_the_value_decides_where_the_name_does_not(name: str, value: str, *, secret: bool) -> None:
    assert looks_secret(name, value) is secret
