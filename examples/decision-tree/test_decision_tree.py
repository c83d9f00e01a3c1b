"""Tests of the training image, each a real job: `pytest test_decision_tree.py`."""

from pathlib import Path

HERE = Path(__file__).parent


def test_it_trains(training_job):
    job = training_job(HERE / "job.yaml").assert_completed()
    assert job.model.names() == ["decision-tree-model.pkl"]
    assert "rows=150 leaves=5" in job.logs


def test_a_wrong_hyperparameter_is_named(training_job):
    job = training_job(HERE / "job.yaml", hyperparameters={"max_leaf_nodes": "five"})
    assert job.status == "Failed"
    assert "'five'" in job.failure_reason


def test_it_learns_from_other_data(training_job, tmp_path):
    (tmp_path / "two.csv").write_text("a,0,0\nb,1,1\n")
    job = training_job(
        image="smlocal-example-decision-tree:latest",
        channels={"training": tmp_path},
        max_run=60,
    )
    assert "rows=2 leaves=2 accuracy=1.0000" in job.assert_completed().logs


def test_it_serves_what_it_has_learned(training_job, endpoint):
    served = endpoint(training_job(HERE / "job.yaml").assert_completed())
    answer = served.invoke((HERE / "request.csv").read_bytes(), content_type="text/csv")
    assert answer.text == "setosa\nvirginica\n"
