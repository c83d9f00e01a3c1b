"""What `smlocal plan` shows to people."""

import json
import re
from collections.abc import Callable
from pathlib import Path

from tests.kit import Run


def test_a_plan_is_read_from_the_top(tmp_path: Path, smlocal_run: Run, image: Callable[[str], str]) -> None:
    data = tmp_path / "data"
    data.mkdir()
    for name in ("v.csv", "other.csv"):
        (data / name).write_text("1\n")
    flags = (
        *("--image", image("sh"), "--name", "plan-alone", "--instance-count", "2", "--output", "out"),
        *("--channel", "all=data", "--channel", "one=data/v.csv", "-e", "API_TOKEN=hush", "-e", "LEVEL=debug"),
    )
    done = smlocal_run("plan", *flags, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert not [line for line in lines if line != line.rstrip()]
    shown = {line[13:].split("  ")[0].strip(): line for line in lines}

    # Differences stand right below the plan; the script is printed only when it is asked for.
    heads = [line[:13].strip() for line in lines if line and not line.startswith(" ")]
    assert heads[:5] == ["Job", "Image", "Differences f", "Hosts", "Request"]
    human = done.stdout
    assert lines[-1].startswith("By hand      smlocal plan --script ")
    assert "docker create" not in human
    script = json.loads(smlocal_run("plan", *flags, "--json", cwd=tmp_path).stdout)["Script"]
    assert "docker create" in script
    assert _any_subnet(script) == _any_subnet(smlocal_run("plan", *flags, "--script", cwd=tmp_path).stdout)

    # The tree once; of the second host what differs.
    assert human.count("input/config/hyperparameters.json") == 1
    assert human.count("input/config/resourceconfig.json") == 2
    assert human.count("input/config/init-config.json") == 2
    assert "copy-on-write of ./data (2 files)" in shown["input/data/all"]
    assert shown["input/data/one"].endswith(" of ./data/v.csv")
    assert "collected to ./out/plan-alone/output/model.tar.gz" in shown["model"]
    assert "collected to ./out/plan-alone/output/output.tar.gz" in shown["output/data"]

    # Secrets stay where they are, except in the document, which echoes the request as the service does.
    assert "hush" not in done.stdout
    assert "API_TOKEN=•••" in human
    assert "LEVEL=debug" in human
    plan = json.loads(smlocal_run("plan", *flags, "--json", cwd=tmp_path).stdout)
    assert plan["Request"]["Environment"]["API_TOKEN"] == "hush"


def test_debugger_rules_are_in_the_plan(tmp_path: Path, smlocal_run: Run, image: Callable[[str], str]) -> None:
    aws = "895741380848.dkr.ecr.us-west-2.amazonaws.com/sagemaker-debugger-rule"
    rules = {
        "Loss": (f"{aws}s:latest", {"rule_to_invoke": "LossNotDecreasing"}),
        "Report": (f"{aws}s:latest", {"rule_to_invoke": "CreateXgboostReport"}),
        "Mine": (f"{aws}-evaluator:latest", {"rule_to_invoke": "Falls", "source_s3_uri": "rules/mine.py"}),
        "Theirs": ("their-rules:1", {}),
    }
    request = {
        "AlgorithmSpecification": {"TrainingImage": image("sh"), "TrainingInputMode": "File"},
        "OutputDataConfig": {"S3OutputPath": "./out"},
        "ResourceConfig": {"InstanceType": "ml.m5.large", "InstanceCount": 1, "VolumeSizeInGB": 1},
        "StoppingCondition": {"MaxRuntimeInSeconds": 60},
        "DebugHookConfig": {"S3OutputPath": "./debug"},
        "DebugRuleConfigurations": [
            {"RuleConfigurationName": name, "RuleEvaluatorImage": evaluator, "RuleParameters": parameters}
            for name, (evaluator, parameters) in rules.items()
        ],
    }
    (tmp_path / "job.json").write_text(json.dumps(request))
    shown = smlocal_run("plan", "job.json", cwd=tmp_path).stdout
    assert (
        "Rules        Loss: LossNotDecreasing, built in\n"
        "             Report: CreateXgboostReport, not evaluated\n"
        "             Mine: Falls of ./rules/mine.py\n"
        "             Theirs: the image their-rules:1\n"
    ) in shown
    planned = json.loads(smlocal_run("plan", "job.json", "--json", cwd=tmp_path).stdout)["Rules"]
    assert [(each["RuleConfigurationName"], each["Image"], each["Recorded"]) for each in planned] == [
        ("Loss", None, False),
        ("Report", None, True),
        ("Mine", None, False),
        ("Theirs", "their-rules:1", False),
    ]


def test_a_plan_for_people_has_no_secrets(tmp_path: Path, smlocal_run: Run, image: Callable[[str], str]) -> None:
    flags = (
        *("--image", image("sh"), "--name", "plan-alone", "--env-file", "secrets"),
        *("-p", "db_password=hunter2", "-p", "max_tokens=512", "-p", 'db={"password": "hunter2", "host": "h"}'),
        *("-p", f"PRIVATE_KEY={'hunter2' * 300}", "-p", f"filler={'x' * 2500}", "-e", "GITHUB_PAT", "-e", "A"),
    )
    (tmp_path / "secrets").write_text("DATABASE_URL=postgres://u:hunter2@h/d\nSENTRY_DSN=hunter2\nJWT=hunter2\nB=1\n")
    given = {"GITHUB_PAT": "hunter2", "A": "from here"}
    done = smlocal_run("plan", *flags, cwd=tmp_path, env=given)
    assert done.returncode == 0, done.stderr
    assert "hunter2" not in done.stdout + done.stderr
    human = done.stdout
    assert "hunter2" not in smlocal_run("plan", *flags, "--script", cwd=tmp_path, env=given).stdout
    for shown in ("DATABASE_URL=postgres://u:•••@h/d", "SENTRY_DSN=•••", "GITHUB_PAT=•••", " A=from here", " B=1"):
        assert shown in human
    assert "bytes, sha256 " in human  # figures are of the real file
    assert '{"db_password":"•••","max_tokens":"512","db":"{\\"password\\": \\"•••\\", \\"host\\": \\"h\\"}"' in human
    document = json.loads(smlocal_run("plan", *flags, "--json", cwd=tmp_path, env=given).stdout)
    assert document["Request"]["HyperParameters"]["db_password"] == "hunter2"
    assert "hunter2" not in document["Script"]

    missing = smlocal_run("plan", *flags, cwd=tmp_path)
    assert missing.returncode == 2
    assert "the variable GITHUB_PAT is not set here" in missing.stderr
    assert "[variable-unset]" in missing.stderr


def test_long_names_of_files_stay_in_their_column(
    tmp_path: Path, smlocal_run: Run, image: Callable[[str], str]
) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "a").write_text("1\n")
    channel = "a-channel-whose-name-is-longer-than-any-other"
    done = smlocal_run(
        "plan", "--image", image("sh"), "--name", "plan-alone", "--channel", f"{channel}=data", cwd=tmp_path
    )
    tree = [line for line in done.stdout.partition("Environment")[0].splitlines() if "input/" in line]
    column = len("/opt/ml      input/data/-manifest ") + len(channel)
    assert all(line[column - 1] == " " and line[column] != " " for line in tree)


def _any_subnet(script: str) -> str:
    """The private network's addresses are taken by chance."""
    return re.sub(r"198\.1[89]\.\d+\.", "198.18.0.", script)
