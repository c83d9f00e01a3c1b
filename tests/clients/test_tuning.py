"""Tuning jobs by the clients that others have written."""

import json
import sys
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from botocore.exceptions import ClientError
from tests.clients.aws_cli import first_version, second_version
from tests.clients.conftest import PROGRAMS, User, last_json
from tests.clients.hosting import archive
from tests.kit import until
from tests.kit.answer_shapes import client_of

ROLE = "arn:aws:iam::123456789012:role/training"
LOSS = 'n=$(sed \'s/.*"n": *"\\([0-9]*\\)".*/\\1/\' /opt/ml/input/config/hyperparameters.json); echo "loss=$n;"'


def tuning_request(name: str, image: str, script: str = LOSS, **more: Any) -> dict[str, Any]:
    return {
        "HyperParameterTuningJobName": name,
        "HyperParameterTuningJobConfig": {
            "Strategy": "Random",
            "RandomSeed": 1,
            "HyperParameterTuningJobObjective": {"Type": "Maximize", "MetricName": "loss"},
            "ResourceLimits": {"MaxNumberOfTrainingJobs": 3, "MaxParallelTrainingJobs": 3},
            "ParameterRanges": {"IntegerParameterRanges": [{"Name": "n", "MinValue": "1", "MaxValue": "9"}]},
        },
        "TrainingJobDefinition": {
            "RoleArn": ROLE,
            "AlgorithmSpecification": {
                "TrainingImage": image,
                "TrainingInputMode": "File",
                "MetricDefinitions": [{"Name": "loss", "Regex": "loss=([0-9.]+);"}],
            },
            "Environment": {"SCRIPT": script},
            "OutputDataConfig": {"S3OutputPath": "s3://artifacts/models"},
            "ResourceConfig": {"InstanceType": "ml.m5.large", "InstanceCount": 1, "VolumeSizeInGB": 10},
            "StoppingCondition": {"MaxRuntimeInSeconds": 1800},
        },
        **more,
    }


def refused(call: Callable[..., Any], **parameters: Any) -> tuple[str, str]:
    with pytest.raises(ClientError) as error:
        call(**parameters)
    found = error.value.response["Error"]
    return found["Code"], found["Message"]


@pytest.mark.slow(8)
def test_every_operation_on_tuning_jobs(
    serve: Callable[..., Any], image: Callable[[str], str], assert_nothing_left: Callable[[str], None]
) -> None:
    sh, name = image("sh"), "boto3-tuning"
    with serve("--max-instances", "2") as address:
        sagemaker = client_of(address, "sagemaker")
        asked = tuning_request(name, sh, Tags=[{"Key": "team", "Value": "a"}])
        arn = sagemaker.create_hyper_parameter_tuning_job(**asked)["HyperParameterTuningJobArn"]
        assert arn.endswith(f":hyper-parameter-tuning-job/{name}")
        assert refused(sagemaker.create_hyper_parameter_tuning_job, **asked)[0] == "ResourceInUse"

        def described(of: str = name) -> Any:
            return sagemaker.describe_hyper_parameter_tuning_job(HyperParameterTuningJobName=of)

        until(lambda: described()["HyperParameterTuningJobStatus"] == "Completed")
        answer = described()
        assert answer["TrainingJobStatusCounters"]["Completed"] == 3
        assert "Local" not in answer
        best = answer["BestTrainingJob"]
        pages = sagemaker.get_paginator("list_training_jobs_for_hyper_parameter_tuning_job").paginate(
            HyperParameterTuningJobName=name,
            SortBy="FinalObjectiveMetricValue",
            SortOrder="Descending",
            PaginationConfig={"PageSize": 2},
        )
        found = [each for page in pages for each in page["TrainingJobSummaries"]]
        values = [each["FinalHyperParameterTuningJobObjectiveMetric"]["Value"] for each in found]
        assert values == sorted(values, reverse=True)
        assert found[0]["TrainingJobName"] == best["TrainingJobName"]
        child = sagemaker.describe_training_job(TrainingJobName=best["TrainingJobName"])
        assert child["TuningJobArn"] == arn
        assert child["HyperParameters"]["_tuning_objective_metric"] == "loss"

        (listed,) = sagemaker.list_hyper_parameter_tuning_jobs(NameContains="tuning")[
            "HyperParameterTuningJobSummaries"
        ]
        assert (listed["HyperParameterTuningJobName"], listed["Strategy"]) == (name, "Random")
        by_parent = sagemaker.search(
            Resource="TrainingJob", SearchExpression={"Filters": [{"Name": "TuningJobArn", "Value": arn}]}
        )
        assert len(by_parent["Results"]) == 3
        entity = sagemaker.search(Resource="HyperParameterTuningJob")["Results"][0]["HyperParameterTuningJob"]
        assert entity["HyperParameterTuningJobName"] == name
        assert sagemaker.list_tags(ResourceArn=arn)["Tags"] == [{"Key": "team", "Value": "a"}]

        long = tuning_request("boto3-tuning-stop", sh, f"trap 'exit 0' TERM; {LOSS}; sleep 1000 & wait")
        sagemaker.create_hyper_parameter_tuning_job(**long)
        running = {"HyperParameterTuningJobName": "boto3-tuning-stop"}

        def statuses() -> list[str]:
            summaries = sagemaker.list_training_jobs_for_hyper_parameter_tuning_job(**running)["TrainingJobSummaries"]
            return [each["TrainingJobStatus"] for each in summaries]

        until(lambda: statuses() == ["InProgress"] * 3)
        assert refused(sagemaker.delete_hyper_parameter_tuning_job, **running)[0] == "ValidationException"
        sagemaker.stop_hyper_parameter_tuning_job(**running)
        until(lambda: described("boto3-tuning-stop")["HyperParameterTuningJobStatus"] == "Stopped")
        assert statuses() == ["Stopped"] * 3
        code, message = refused(sagemaker.stop_hyper_parameter_tuning_job, **running)
        assert (code, "Stopped" in message) == ("ValidationException", True)
        sagemaker.delete_hyper_parameter_tuning_job(**running)
        assert refused(sagemaker.describe_hyper_parameter_tuning_job, **running) == (
            "ValidationException",
            "Requested resource not found.",
        )

        wrong = tuning_request("boto3-tuning-wrong", sh)
        wrong["HyperParameterTuningJobConfig"]["HyperParameterTuningJobObjective"]["MetricName"] = "accuracy"
        code, message = refused(sagemaker.create_hyper_parameter_tuning_job, **wrong)
        assert code == "ValidationException"
        assert "A metric is required for this hyperparameter tuning job objective." in message
    for each in found:
        assert_nothing_left(each["TrainingJobName"])


def _read(model: tarfile.TarFile, member: tarfile.TarInfo) -> bytes:
    file = model.extractfile(member)
    assert file is not None
    return file.read()


@pytest.mark.slow(10)
def test_two_algorithms_are_tuned_together(
    serve: Callable[..., Any],
    user: User,
    image: Callable[[str], str],
    assert_nothing_left: Callable[[str], None],
) -> None:
    name = "search-two"
    given = tuning_request(name, image("sh"))
    shared = given.pop("TrainingJobDefinition")
    config = given["HyperParameterTuningJobConfig"]
    ranges, objective = config.pop("ParameterRanges"), config.pop("HyperParameterTuningJobObjective")
    config["ResourceLimits"] = {"MaxNumberOfTrainingJobs": 4, "MaxParallelTrainingJobs": 4}
    shell = {
        **shared,
        "DefinitionName": "shell",
        "TuningObjective": objective,
        "HyperParameterRanges": ranges,
        "StaticHyperParameters": {"sagemaker_submit_directory": json.dumps("s3://search-code/shell.tar.gz")},
        "Environment": {"SCRIPT": f"{LOSS}; cp /opt/ml/code/name /opt/ml/model/code"},
    }
    program = """
import json
given = json.load(open("/opt/ml/input/config/hyperparameters.json"))
print("loss=100;")
print("score:", 10 + int(given["depth"]))
open("/opt/ml/model/code", "w").write(open("/opt/ml/code/name").read())
"""
    python = {
        **shared,
        "DefinitionName": "python",
        "TuningObjective": {"Type": "Maximize", "MetricName": "score"},
        "HyperParameterRanges": {"CategoricalParameterRanges": [{"Name": "depth", "Values": ["1", "2"]}]},
        "StaticHyperParameters": {"sagemaker_submit_directory": json.dumps("s3://search-code/python.tar.gz")},
        "AlgorithmSpecification": {
            "TrainingImage": image("py"),
            "TrainingInputMode": "File",
            "MetricDefinitions": [{"Name": "score", "Regex": "score: ([0-9.]+)"}],
        },
        "Environment": {"SCRIPT": program},
        "OutputDataConfig": {"S3OutputPath": "s3://search-others/models"},
        "ResourceConfig": {"InstanceType": "ml.m5.xlarge", "InstanceCount": 1, "VolumeSizeInGB": 10},
    }
    given["TrainingJobDefinitions"] = [shell, python]
    with serve() as address:
        sagemaker, s3 = client_of(address, "sagemaker"), client_of(address, "s3")
        for bucket in ("artifacts", "search-others", "search-code"):
            s3.create_bucket(Bucket=bucket)
        for each in ("shell", "python"):
            s3.put_object(Bucket="search-code", Key=f"{each}.tar.gz", Body=archive({"name": each}))
        arn = sagemaker.create_hyper_parameter_tuning_job(**given)["HyperParameterTuningJobArn"]

        def described() -> Any:
            return sagemaker.describe_hyper_parameter_tuning_job(HyperParameterTuningJobName=name)

        until(lambda: described()["HyperParameterTuningJobStatus"] != "InProgress")
        answer = described()
        assert answer["HyperParameterTuningJobStatus"] == "Completed", answer
        assert answer["ObjectiveStatusCounters"] == {"Succeeded": 4, "Pending": 0, "Failed": 0}
        assert "TrainingJobDefinition" not in answer
        assert [each["DefinitionName"] for each in answer["TrainingJobDefinitions"]] == ["shell", "python"]
        statics = [each["StaticHyperParameters"] for each in answer["TrainingJobDefinitions"]]
        assert [each["_tuning_objective_metric"] for each in statics] == ["loss", "score"]
        found = sagemaker.list_training_jobs_for_hyper_parameter_tuning_job(
            HyperParameterTuningJobName=name, SortBy="FinalObjectiveMetricValue", SortOrder="Descending"
        )["TrainingJobSummaries"]
        assert [each["TrainingJobDefinitionName"] for each in found] == ["python", "python", "shell", "shell"]
        metrics = [each["FinalHyperParameterTuningJobObjectiveMetric"] for each in found]
        assert [(each["MetricName"], each["Value"]) for each in metrics[:2]] == [("score", 12), ("score", 11)]
        assert [each["MetricName"] for each in metrics[2:]] == ["loss", "loss"]
        assert [list(each["TunedHyperParameters"]) for each in found] == [["depth"], ["depth"], ["n"], ["n"]]
        assert answer["BestTrainingJob"] == found[0]
        children = [sagemaker.describe_training_job(TrainingJobName=each["TrainingJobName"]) for each in found]
        for child, (bucket, code) in zip(
            children[1:3], (("search-others", b"python"), ("artifacts", b"shell")), strict=True
        ):
            key = f"models/{child['TrainingJobName']}/output/model.tar.gz"
            assert child["ModelArtifacts"]["S3ModelArtifacts"] == f"s3://{bucket}/{key}"
            with tarfile.open(fileobj=s3.get_object(Bucket=bucket, Key=key)["Body"], mode="r|gz") as model:
                assert {each.name: _read(model, each) for each in model if each.isfile()} == {"code": code}
    for child, definition in zip(children, (python, python, shell, shell), strict=True):
        assert child["TuningJobArn"] == arn
        assert child["AlgorithmSpecification"]["TrainingImage"] == definition["AlgorithmSpecification"]["TrainingImage"]
        assert child["ResourceConfig"]["InstanceType"] == definition["ResourceConfig"]["InstanceType"]
        assert child["HyperParameters"]["_tuning_objective_metric"] == definition["TuningObjective"]["MetricName"]
    tuned = {"_tuning_objective_metric": "score", "depth": "2"}
    assert children[0]["HyperParameters"] == {**python["StaticHyperParameters"], **tuned}
    assert {each["MetricName"] for each in children[0]["FinalMetricDataList"]} == {"score"}

    best = found[0]["TrainingJobName"]
    report = user.run([sys.executable, "-m", "smlocal", "report", name, "--html", "report.html"])
    assert report.returncode == 0, report.stderr
    text = (user.own / "report.html").read_text()
    assert all(word in text for word in ("shell", "python", best))
    for each in found:
        assert_nothing_left(each["TrainingJobName"])


@pytest.mark.slow(8)
@pytest.mark.long
@pytest.mark.parametrize(("version", "program"), [("1", first_version), ("2", second_version)])
def test_the_aws_cli_tunes(user: User, image: Callable[[str], str], version: str, program: Callable[[], Path]) -> None:
    name = f"aws-cli-tuning-{version}"
    (user.own / "tuning.json").write_text(json.dumps(tuning_request(name, image("sh"))))
    script: list[str | Path] = [PROGRAMS / "aws_cli_tuning.sh", program(), name]
    done = user.run([sys.executable, "-m", "smlocal", "exec", "--", *script])
    assert done.returncode == 0, done.stdout + done.stderr
    *_, best, jobs = done.stdout.splitlines()
    assert best.startswith(f"{name}-00")
    assert jobs.split() == ["Completed"] * 3


@pytest.mark.slow(20)
@pytest.mark.long
def test_a_tuner_of_sdk_2_fits_waits_shows_its_results_and_deploys_the_best(
    user: User, image: Callable[[str], str], assert_nothing_left: Callable[[str], None]
) -> None:
    done = user.execute("sdk-2", "sdk2_tuner.py", image("train-serve"), "sdk2-tuner")
    found = last_json(done.stdout)
    assert found["rows"] == 4
    assert {"FinalObjectiveValue", "TrainingJobName", "TrainingJobStatus"} <= set(found["columns"])
    assert found["best"].startswith("sdk2-tuner-00")
    assert found["best_value"] == max(found["values"])
    assert found["hyperparameters"]["c"] == "one"
    assert found["status"] == "Completed"
    assert found["attached"] == found["best"]
    assert int(found["hyperparameters"]["factor"]) == found["best_value"]
    best = int(found["best_value"])
    assert found["answers"] == [f"{best},{2 * best}\n", [[str(best), str(2 * best)]]]
    for each in ("sdk2-tuner-deployed", "sdk2-tuner-estimator"):
        assert_nothing_left(each)


@pytest.mark.slow(16)
@pytest.mark.long
def test_a_tuner_of_sdk_2_tunes_two_estimators_and_deploys_the_best(
    user: User, image: Callable[[str], str], assert_nothing_left: Callable[[str], None]
) -> None:
    numbers = image("train-serve")
    done = user.execute("sdk-2", "sdk2_two_tuners.py", numbers, image("sh"), "search-sdk2-two")
    found = last_json(done.stdout)
    assert found["definitions"] == ["numbers", "numbers", "words", "words"]
    assert found["image"] == numbers
    assert found["value"] >= 2
    assert found["answer"] == f"{found['value']:.0f},{2 * found['value']:.0f}\n"
    assert_nothing_left("search-sdk2-two-best")


@pytest.mark.slow(20)
@pytest.mark.long
def test_a_tuner_of_sdk_3_tunes_and_waits_and_a_model_builder_deploys_the_best(
    user: User, image: Callable[[str], str], assert_nothing_left: Callable[[str], None]
) -> None:
    done = user.execute("sdk-3", "sdk3_tuner.py", image("train-serve"), "sdk3-tuner")
    found = last_json(done.stdout)
    assert found["status"] == "Completed"
    assert found["best"].startswith("sdk3-tuner-00")
    factor = int(found["factor"])
    assert found["answer"] == f"{factor},{2 * factor}\n"
    assert_nothing_left("sdk3-tuner")


@pytest.mark.slow(16)
@pytest.mark.long
def test_the_operator_of_airflow_tunes(user: User, image: Callable[[str], str]) -> None:
    (user.own / "tuning.json").write_text(json.dumps(tuning_request("airflow-tuning", image("sh"))))
    done = user.execute("airflow", "airflow_tuning.py", user.own / "tuning.json")
    found = last_json(done.stdout)
    assert found["status"] == "Completed"
    assert found["best"].startswith("airflow-tuning-00")
