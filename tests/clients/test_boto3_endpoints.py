"""boto3 on endpoints: every operation on a server, each answer held to botocore's model."""

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from botocore.exceptions import EventStreamError, WaiterError
from tests.clients.conftest import User, last_json
from tests.clients.hosting import ACCOUNT, ROLE, Endpoints, archive, refused
from tests.kit import until
from tests.kit.answer_shapes import client_of
from tests.kit.fixtures import touch_inside

Clean = Callable[[str], None]


@pytest.fixture
def endpoints(
    serve: Callable[..., Any], image: Callable[[str], str], smlocal_run: Callable[..., Any]
) -> Iterator[Endpoints]:
    tag = image("serve")
    with serve() as address:
        yield Endpoints(address=address, image=tag)
    left = [each for each in smlocal_run("endpoints").stdout.splitlines()[1:] if "Stopped" not in each]
    for each in left:  # of a test that has failed
        smlocal_run("rm", "--stop", each.split()[0])


@pytest.mark.slow(8)
def test_a_program_without_an_aws_account_deploys_invokes_and_deletes(
    user: User, image: Callable[[str], str], assert_nothing_left: Clean
) -> None:
    done = user.execute(None, "boto3_endpoint.py", image("serve"), "clients-program")
    assert last_json(done.stdout) == {
        "statuses": ["Creating", "InService"],
        "questions_of_the_waiter": 1,  # a second one would come after 30 seconds
        "answer": {"/opt/ml/model/weights.txt": "trained"},
        "variant": "AllTraffic",
        "log": ["serving"],
        "tags": [{"Key": "team", "Value": "a"}],
        "left": [[], [], []],
    }
    assert "smlocal: 1 endpoint of this program\n  clients-program   Stopped" in done.stderr
    assert_nothing_left("clients-program")


@pytest.mark.slow(10)
def test_models_and_configurations_are_kept_listed_and_deleted(endpoints: Endpoints) -> None:
    sagemaker = endpoints.sagemaker
    for number in range(12):
        endpoints.configure(f"clients-kept-{number:02}", NUMBER=str(number))
    name = "clients-kept-03"
    model = sagemaker.describe_model(ModelName=name)
    assert model["ModelArn"] == f"arn:aws:sagemaker:us-east-1:{ACCOUNT}:model/{name}"
    assert model["PrimaryContainer"] == {"Image": endpoints.image, "Environment": {"NUMBER": "3"}}
    assert (model["ExecutionRoleArn"], model["EnableNetworkIsolation"]) == (ROLE, False)
    config = sagemaker.describe_endpoint_config(EndpointConfigName=name)
    (variant,) = config["ProductionVariants"]
    assert (variant["ModelName"], variant["InitialVariantWeight"]) == (name, 1.0)

    newest = [each["ModelName"] for each in sagemaker.list_models()["Models"]]
    assert newest == [f"clients-kept-{number:02}" for number in range(11, 1, -1)]
    pages = sagemaker.get_paginator("list_endpoint_configs").paginate(
        SortBy="Name", SortOrder="Ascending", NameContains="Kept", PaginationConfig={"PageSize": 5}
    )
    found = [[each["EndpointConfigName"] for each in page["EndpointConfigs"]] for page in pages]
    assert [len(page) for page in found] == [5, 5, 2]
    assert [each for page in found for each in page] == [f"clients-kept-{number:02}" for number in range(12)]
    before = sagemaker.list_models(CreationTimeBefore=model["CreationTime"], SortOrder="Ascending")["Models"]
    assert [each["ModelName"] for each in before] == [f"clients-kept-{number:02}" for number in range(4)]

    sagemaker.add_tags(ResourceArn=model["ModelArn"], Tags=[{"Key": "team", "Value": "a"}])
    assert sagemaker.list_tags(ResourceArn=model["ModelArn"])["Tags"] == [{"Key": "team", "Value": "a"}]
    sagemaker.delete_tags(ResourceArn=model["ModelArn"], TagKeys=["team"])
    assert sagemaker.list_tags(ResourceArn=model["ModelArn"])["Tags"] == []

    sagemaker.delete_endpoint_config(EndpointConfigName=name)
    sagemaker.delete_model(ModelName=name)
    code, message = refused(sagemaker.describe_model, ModelName=name)
    assert (code, "Could not find model" in message) == ("ValidationException", True)
    assert len(sagemaker.list_models(MaxResults=100)["Models"]) == 11


@pytest.mark.slow(1)
def test_errors_have_the_codes_and_the_words_of_the_service(endpoints: Endpoints) -> None:
    sagemaker = client_of(endpoints.address, "sagemaker", parameter_validation=False)
    arn = "arn:aws:sagemaker:us-east-1:000000000000"
    unknown = {
        sagemaker.describe_model: ("ModelName", f'Could not find model "{arn}:model/none".'),
        sagemaker.delete_model: ("ModelName", f'Could not find model "{arn}:model/none".'),
        sagemaker.describe_endpoint_config: (
            "EndpointConfigName",
            f'Could not find endpoint configuration "{arn}:endpoint-config/none".',
        ),
        sagemaker.describe_endpoint: ("EndpointName", f'Could not find endpoint "{arn}:endpoint/none".'),
        sagemaker.delete_endpoint: ("EndpointName", f'Could not find endpoint "{arn}:endpoint/none".'),
    }
    for call, (member, message) in unknown.items():
        assert refused(call, **{member: "none"}) == ("ValidationException", message)
    assert refused(endpoints.runtime.invoke_endpoint, EndpointName="none", Body=b"1") == (
        "ValidationError",
        "Endpoint none of account 000000000000 not found.",
    )

    endpoints.configure("clients-known")
    known = f"arn:aws:sagemaker:us-east-1:{ACCOUNT}"
    again = {"ModelName": "clients-known", "PrimaryContainer": {"Image": endpoints.image}, "ExecutionRoleArn": ROLE}
    assert refused(sagemaker.create_model, **again) == (
        "ValidationException",
        f'Cannot create already existing model "{known}:model/clients-known".',
    )
    variant = {
        "VariantName": "a",
        "ModelName": "clients-known",
        "InstanceType": "ml.m5.large",
        "InitialInstanceCount": 1,
    }
    config = {"EndpointConfigName": "clients-known", "ProductionVariants": [variant]}
    assert refused(sagemaker.create_endpoint_config, **config) == (
        "ValidationException",
        f'Cannot create already existing endpoint configuration "{known}:endpoint-config/clients-known".',
    )
    other = {"EndpointConfigName": "clients-other", "ProductionVariants": [{**variant, "ModelName": "none"}]}
    assert refused(sagemaker.create_endpoint_config, **other) == (
        "ValidationException",
        f'Could not find model "{arn}:model/none".',
    )
    client_of(endpoints.address, "s3").create_bucket(Bucket="models")
    container = {"Image": endpoints.image, "ModelDataUrl": "s3://models/none/model.tar.gz"}
    assert refused(
        sagemaker.create_model, ModelName="clients-without", PrimaryContainer=container, ExecutionRoleArn=ROLE
    ) == ("ValidationException", "Could not find model data at s3://models/none/model.tar.gz.")
    code, message = refused(sagemaker.create_endpoint, EndpointName="wrong_name", EndpointConfigName="clients-known")
    assert (code, "at 'endpointName' failed to satisfy constraint" in message) == ("ValidationException", True)


@pytest.mark.slow(3)
def test_what_is_not_run_here_is_refused_by_its_name(endpoints: Endpoints) -> None:
    endpoints.configure("clients-refused")
    serverless = {
        "VariantName": "a",
        "ModelName": "clients-refused",
        "ServerlessConfig": {"MemorySizeInMB": 1024, "MaxConcurrency": 1},
    }
    config = {"EndpointConfigName": "clients-serverless", "ProductionVariants": [serverless]}
    code, message = refused(endpoints.sagemaker.create_endpoint_config, **config)
    assert (code, "serverless inference is not run here" in message.lower()) == ("ValidationException", True), message
    components = {"VariantName": "a", "InstanceType": "ml.m5.large", "InitialInstanceCount": 1}
    config = {"EndpointConfigName": "clients-components", "ProductionVariants": [components]}
    code, message = refused(endpoints.sagemaker.create_endpoint_config, **config)
    assert (code, "inference components" in message) == ("ValidationException", True)
    code, message = refused(
        endpoints.runtime.invoke_endpoint_async, EndpointName="clients-refused", InputLocation="s3://bucket/key"
    )
    assert (code, "InvokeEndpointAsync" in message) == ("UnknownOperationException", True)
    multi = {"Image": endpoints.image, "Mode": "MultiModel", "ModelDataUrl": "s3://bucket/models/"}
    code, message = refused(
        endpoints.sagemaker.create_model, ModelName="clients-multi", PrimaryContainer=multi, ExecutionRoleArn=ROLE
    )
    assert (code, "MultiModel" in message) == ("ValidationException", True)


@pytest.mark.slow(8)
def test_an_invocation_carries_what_the_model_of_the_runtime_has(
    endpoints: Endpoints, assert_nothing_left: Clean
) -> None:
    endpoints.configure("clients-headers", ANSWER="json")
    endpoints.endpoint("clients-headers")
    answer = endpoints.runtime.invoke_endpoint(
        EndpointName="clients-headers",
        Body="é".encode(),
        ContentType="text/csv",
        Accept="text/plain",
        CustomAttributes="trace=1",
        InferenceId="one",
        TargetVariant="AllTraffic",
    )
    assert (answer["ContentType"], answer["InvokedProductionVariant"]) == ("application/json", "AllTraffic")
    assert answer["CustomAttributes"] == "of the container"
    seen = json.loads(answer["Body"].read())
    assert seen["body"] == "é"
    assert seen["headers"]["content-type"] == "text/csv"
    assert seen["headers"]["accept"] == "text/plain"
    assert seen["headers"]["x-amzn-sagemaker-custom-attributes"] == "trace=1"
    assert seen["headers"]["x-amzn-sagemaker-inference-id"] == "one"
    assert "authorization" not in seen["headers"]
    most = 25 << 20
    code, message = refused(
        endpoints.runtime.invoke_endpoint, EndpointName="clients-headers", Body=b"x" * (most + (3 << 20))
    )
    assert code == "ValidationError"
    assert message == f"Request {most + (3 << 20)} has exceeded the upper limit of {most} bytes."
    endpoints.delete("clients-headers")
    assert_nothing_left("clients-headers")


@pytest.mark.slow(8)
def test_an_error_of_the_container_is_a_model_error(endpoints: Endpoints, assert_nothing_left: Clean) -> None:
    endpoints.configure("clients-errors", ANSWER="error:422")
    endpoints.endpoint("clients-errors")
    runtime = endpoints.runtime
    for call in (runtime.invoke_endpoint, runtime.invoke_endpoint_with_response_stream):
        with pytest.raises(runtime.exceptions.ModelError) as error:
            call(EndpointName="clients-errors", Body=b"1,2")
        said = error.value.response
        assert said["ResponseMetadata"]["HTTPStatusCode"] == 424
        assert (said["OriginalStatusCode"], said["OriginalMessage"]) == (422, "no such feature: 1,2")
        group = "/aws/sagemaker/Endpoints/clients-errors"
        assert said["LogStreamArn"] == f"arn:aws:logs:us-east-1:{ACCOUNT}:log-group:{group}"
        assert said["Error"]["Message"].startswith(
            'Received client error (422) from primary with message "no such feature: 1,2". See https://us-east-1.'
        )
    endpoints.delete("clients-errors")
    assert_nothing_left("clients-errors")


@pytest.mark.slow(8)
def test_pieces_of_an_answer_are_events_as_they_come(
    endpoints: Endpoints, user: User, assert_nothing_left: Clean
) -> None:
    client_of(endpoints.address, "s3").create_bucket(Bucket="models")
    client_of(endpoints.address, "s3").put_object(Bucket="models", Key="m/model.tar.gz", Body=archive())
    endpoints.sagemaker.create_model(
        ModelName="clients-stream",
        ExecutionRoleArn=ROLE,
        PrimaryContainer={
            "Image": endpoints.image,
            "ModelDataUrl": "s3://models/m/model.tar.gz",
            "Environment": {"ANSWER": "stream"},
        },
    )
    endpoints.configuration("clients-stream", "clients-stream")
    endpoints.endpoint("clients-stream")
    answer = endpoints.runtime.invoke_endpoint_with_response_stream(
        EndpointName="clients-stream", Body=b"1", Accept="text/plain"
    )
    assert answer["InvokedProductionVariant"] == "AllTraffic"
    events = iter(answer["Body"])
    assert next(events) == {"PayloadPart": {"Bytes": b"part 0\n"}}
    model = user.home / "jobs" / "clients-stream" / "staged" / "AllTraffic" / "model"
    touch_inside(model / "go-0")  # the container waits for it before the second piece
    assert next(events) == {"PayloadPart": {"Bytes": b"part 1\n"}}
    touch_inside(model / "go-1")
    assert list(events) == [{"PayloadPart": {"Bytes": b"part 2\n"}}]
    endpoints.delete("clients-stream")
    assert_nothing_left("clients-stream")


@pytest.mark.slow(8)
def test_a_stream_that_breaks_off_ends_with_an_exception(endpoints: Endpoints) -> None:
    endpoints.configure("clients-breaks", ANSWER="stream")
    endpoints.endpoint("clients-breaks")
    answer = endpoints.runtime.invoke_endpoint_with_response_stream(EndpointName="clients-breaks", Body=b"1")
    events = iter(answer["Body"])
    assert next(events) == {"PayloadPart": {"Bytes": b"part 0\n"}}
    endpoints.sagemaker.delete_endpoint(EndpointName="clients-breaks")
    with pytest.raises(EventStreamError) as error:
        list(events)
    assert error.value.response["Error"]["Code"] == "ModelStreamError"
    assert "has closed the connection before its answer ended" in error.value.response["Error"]["Message"]


@pytest.mark.slow(15)
def test_an_update_answers_with_the_old_container_until_the_new_one_is_in_service(
    endpoints: Endpoints, user: User, smlocal_run: Callable[..., Any], assert_nothing_left: Clean
) -> None:
    endpoints.configure("clients-before")
    endpoints.configure("clients-after", ANSWER="json", PING="late:2")
    endpoints.endpoint("clients-updated", "clients-before")
    sagemaker = endpoints.sagemaker
    sagemaker.update_endpoint(EndpointName="clients-updated", EndpointConfigName="clients-after")
    described = endpoints.described("clients-updated")
    assert (described["EndpointStatus"], described["EndpointConfigName"]) == ("Updating", "clients-before")
    assert described["PendingDeploymentSummary"]["EndpointConfigName"] == "clients-after"
    arn = described["EndpointArn"]
    in_progress = ("ValidationException", f'Cannot update in-progress endpoint "{arn}".')
    again = {"EndpointName": "clients-updated", "EndpointConfigName": "clients-before"}
    assert refused(sagemaker.update_endpoint, **again) == in_progress
    assert refused(sagemaker.delete_endpoint, EndpointName="clients-updated") == in_progress
    assert endpoints.invoke("clients-updated") == b"1,2"

    sagemaker.get_waiter("endpoint_in_service").wait(EndpointName="clients-updated")
    described = endpoints.described("clients-updated")
    assert (described["EndpointStatus"], described["EndpointConfigName"]) == ("InService", "clients-after")
    assert described["EndpointArn"] == arn
    assert json.loads(endpoints.invoke("clients-updated"))["body"] == "1,2"
    assert [each["EndpointName"] for each in sagemaker.list_endpoints()["Endpoints"]] == ["clients-updated"]
    jobs = user.home / "jobs"
    assert sorted(path.name for path in jobs.iterdir()) == ["clients-updated", "clients-updated-2"]

    group = "/aws/sagemaker/Endpoints/clients-updated"
    logs = client_of(endpoints.address, "logs")
    streams = [each["logStreamName"] for each in logs.describe_log_streams(logGroupName=group)["logStreams"]]
    assert [each.partition("/")[0] for each in streams] == ["AllTraffic", "AllTraffic"]
    events = logs.filter_log_events(logGroupName=group)["events"]
    assert [each["message"] for each in events] == ["serving", "serving"]
    endpoints.delete("clients-updated")
    assert_nothing_left("clients-updated")
    assert_nothing_left("clients-updated-2")

    endpoints.endpoint("clients-updated", "clients-before")  # the name is free again
    assert endpoints.invoke("clients-updated") == b"1,2"
    sagemaker.update_endpoint(EndpointName="clients-updated", EndpointConfigName="clients-after")
    sagemaker.get_waiter("endpoint_in_service").wait(EndpointName="clients-updated")
    refusal = smlocal_run("rm", "clients-updated")  # another job serves it now
    assert (refusal.returncode, "[job-not-finished]" in refusal.stderr) == (2, True), refusal.stderr
    removed = smlocal_run("rm", "--stop", "clients-updated")
    assert removed.returncode == 0, removed.stderr
    assert refused(sagemaker.describe_endpoint, EndpointName="clients-updated")[0] == "ValidationException"
    assert list(jobs.iterdir()) == []
    assert_nothing_left("clients-updated")
    assert_nothing_left("clients-updated-2")


@pytest.mark.slow(12)
def test_an_update_that_fails_leaves_the_endpoint_in_service_with_the_reason(
    endpoints: Endpoints, assert_nothing_left: Clean
) -> None:
    endpoints.configure("clients-good")
    endpoints.configure("clients-bad", DIES="at-once")
    endpoints.endpoint("clients-rolled", "clients-good")
    sagemaker = endpoints.sagemaker
    sagemaker.update_endpoint(EndpointName="clients-rolled", EndpointConfigName="clients-bad")
    sagemaker.get_waiter("endpoint_in_service").wait(EndpointName="clients-rolled")
    described = endpoints.described("clients-rolled")
    assert (described["EndpointStatus"], described["EndpointConfigName"]) == ("InService", "clients-good")
    assert "did not pass the ping health check" in described["FailureReason"]
    assert endpoints.invoke("clients-rolled") == b"1,2"

    sagemaker.update_endpoint_weights_and_capacities(
        EndpointName="clients-rolled",
        DesiredWeightsAndCapacities=[{"VariantName": "AllTraffic", "DesiredWeight": 3, "DesiredInstanceCount": 2}],
    )
    described = endpoints.described("clients-rolled")
    (variant,) = described["ProductionVariants"]
    assert (variant["DesiredWeight"], variant["CurrentWeight"], variant["DesiredInstanceCount"]) == (3.0, 3.0, 2)
    assert "FailureReason" not in described
    wrong = [{"VariantName": "none", "DesiredWeight": 3}]
    code, message = refused(
        sagemaker.update_endpoint_weights_and_capacities,
        EndpointName="clients-rolled",
        DesiredWeightsAndCapacities=wrong,
    )
    assert (code, '"none" is/are not present' in message) == ("ValidationException", True)
    endpoints.delete("clients-rolled")
    assert_nothing_left("clients-rolled")


@pytest.mark.slow(8)
def test_an_endpoint_that_fails_can_only_be_deleted(endpoints: Endpoints, assert_nothing_left: Clean) -> None:
    endpoints.configure("clients-fails", DIES="at-once")
    sagemaker = endpoints.sagemaker
    sagemaker.create_endpoint(EndpointName="clients-fails", EndpointConfigName="clients-fails")
    with pytest.raises(WaiterError, match="terminal failure state"):
        sagemaker.get_waiter("endpoint_in_service").wait(EndpointName="clients-fails")
    described = endpoints.described("clients-fails")
    assert described["EndpointStatus"] == "Failed"
    assert "did not pass the ping health check" in described["FailureReason"]
    code, message = refused(sagemaker.update_endpoint, EndpointName="clients-fails", EndpointConfigName="clients-fails")
    assert (code, message.startswith("Cannot update failed endpoint")) == ("ValidationException", True)
    code, message = refused(endpoints.runtime.invoke_endpoint, EndpointName="clients-fails", Body=b"1")
    assert (code, message) == ("ValidationError", "Endpoint clients-fails of account 000000000000 not found.")
    failed = sagemaker.list_endpoints(StatusEquals="Failed")["Endpoints"]
    assert [each["EndpointName"] for each in failed] == ["clients-fails"]
    endpoints.delete("clients-fails")
    assert sagemaker.list_endpoints()["Endpoints"] == []
    assert_nothing_left("clients-fails")


@pytest.mark.slow(8)
def test_an_endpoint_outlives_its_server_and_a_command_deploys_one_that_clients_see(
    serve: Callable[..., Any],
    image: Callable[[str], str],
    smlocal_run: Callable[..., Any],
    user: User,
    assert_nothing_left: Clean,
) -> None:
    tag = image("serve")
    (user.own / "model.tar.gz").write_bytes(archive())
    with serve() as address:
        first = Endpoints(address=address, image=tag)
        first.configure("clients-outlives")
        first.endpoint("clients-outlives")
        first.sagemaker.update_endpoint(EndpointName="clients-outlives", EndpointConfigName="clients-outlives")
    flags = ("--image", tag, "-e", "ANSWER=model", "--name", "clients-by-hand")
    smlocal_run("deploy", "model.tar.gz", *flags, cwd=user.own, check=True)
    with serve() as address:
        second = Endpoints(address=address, image=tag)
        # Nobody has looked at the update meanwhile: the job that came into service has replaced the one before.
        second.sagemaker.get_waiter("endpoint_in_service").wait(EndpointName="clients-outlives")
        assert second.invoke("clients-outlives") == b"1,2"
        until(lambda: "Stopped" in smlocal_run("endpoints").stdout)
        (user.own / "body").write_text("by command")
        said = smlocal_run("invoke", "clients-outlives", "--body", "body", cwd=user.own)
        assert said.stdout == "by command", said.stderr
        by_hand = second.described("clients-by-hand")
        assert (by_hand["EndpointStatus"], by_hand["EndpointConfigName"]) == ("InService", "clients-by-hand")
        assert json.loads(second.invoke("clients-by-hand")) == {"/opt/ml/model/weights.txt": "trained"}
        second.delete("clients-by-hand")
        second.delete("clients-outlives")
    for name in ("clients-outlives", "clients-outlives-2", "clients-by-hand"):
        assert_nothing_left(name)


@pytest.mark.slow(14)
def test_variants_are_chosen_by_weight_or_by_name_and_their_weights_change_at_once(
    endpoints: Endpoints, assert_nothing_left: Clean
) -> None:
    endpoints.model("clients-one")
    endpoints.model("clients-two", ANSWER="json")
    variants = [
        {
            "VariantName": name,
            "ModelName": f"clients-{name}",
            "InstanceType": "ml.m5.large",
            "InitialInstanceCount": 1,
            "InitialVariantWeight": weight,
        }
        for name, weight in (("one", 1), ("two", 0))
    ]
    sagemaker, runtime = endpoints.sagemaker, endpoints.runtime
    sagemaker.create_endpoint_config(EndpointConfigName="clients-variants", ProductionVariants=variants)
    endpoints.endpoint("clients-variants")

    def asked(**members: Any) -> tuple[str, bool]:
        """The variant that says that it has answered, and whether it is the second one."""
        answer = runtime.invoke_endpoint(EndpointName="clients-variants", Body=b"1,2", **members)
        return answer["InvokedProductionVariant"], b"headers" in answer["Body"].read()

    assert {asked() for _ in range(10)} == {("one", False)}
    assert asked(TargetVariant="two") == ("two", True)
    code, message = refused(runtime.invoke_endpoint, EndpointName="clients-variants", Body=b"1", TargetVariant="three")
    assert (code, "three" in message) == ("ValidationError", True)

    sagemaker.update_endpoint_weights_and_capacities(
        EndpointName="clients-variants",
        DesiredWeightsAndCapacities=[
            {"VariantName": "one", "DesiredWeight": 0},
            {"VariantName": "two", "DesiredWeight": 5},
        ],
    )
    until(lambda: asked() == ("two", True))
    assert {asked() for _ in range(10)} == {("two", True)}
    described = endpoints.described("clients-variants")
    assert {each["VariantName"]: each["CurrentWeight"] for each in described["ProductionVariants"]} == {
        "one": 0.0,
        "two": 5.0,
    }
    logs, group = client_of(endpoints.address, "logs"), "/aws/sagemaker/Endpoints/clients-variants"
    streams = logs.describe_log_streams(logGroupName=group)["logStreams"]
    assert [each["logStreamName"].partition("/")[0] for each in streams] == ["one", "two"]
    endpoints.delete("clients-variants")
    assert_nothing_left("clients-variants")


@pytest.mark.slow(12)
def test_containers_in_a_row_and_by_name(endpoints: Endpoints, assert_nothing_left: Clean) -> None:
    containers = [
        {"Image": endpoints.image, "ContainerHostname": "first"},
        {"Image": endpoints.image, "ContainerHostname": "second", "Environment": {"ANSWER": "json"}},
    ]
    for mode in ("Serial", "Direct"):
        endpoints.sagemaker.create_model(
            ModelName=f"clients-{mode}",
            ExecutionRoleArn=ROLE,
            Containers=containers,
            InferenceExecutionConfig={"Mode": mode},
        )
        endpoints.configuration(f"clients-{mode}", f"clients-{mode}")
    endpoints.endpoint("clients-row", "clients-Serial")
    assert json.loads(endpoints.invoke("clients-row"))["body"] == "1,2"
    logs, group = client_of(endpoints.address, "logs"), "/aws/sagemaker/Endpoints/clients-row"
    streams = logs.describe_log_streams(logGroupName=group)["logStreams"]
    assert [each["logStreamName"].rpartition("/")[2] for each in streams] == ["first", "second"]
    endpoints.sagemaker.update_endpoint(EndpointName="clients-row", EndpointConfigName="clients-Direct")
    endpoints.sagemaker.get_waiter("endpoint_in_service").wait(EndpointName="clients-row")
    assert endpoints.invoke("clients-row", TargetContainerHostname="first") == b"1,2"
    assert json.loads(endpoints.invoke("clients-row", TargetContainerHostname="second"))["body"] == "1,2"
    endpoints.delete("clients-row")
    assert_nothing_left("clients-row")
    assert_nothing_left("clients-row-2")


@pytest.mark.slow(10)
def test_an_endpoint_answers_again_when_its_supervisor_was_killed(
    endpoints: Endpoints, life: Any, assert_nothing_left: Clean
) -> None:
    endpoints.configure("clients-killed")
    endpoints.endpoint("clients-killed")
    life.crash("clients-killed")
    assert endpoints.invoke("clients-killed", b"still there") == b"still there"
    assert endpoints.described("clients-killed")["EndpointStatus"] == "InService"
    endpoints.delete("clients-killed")
    assert_nothing_left("clients-killed")
