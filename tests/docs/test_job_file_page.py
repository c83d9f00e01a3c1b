"""The first job file of docs/job-file.md is what it says: with `Local` taken out, AWS's own client takes it."""

import textwrap
from collections.abc import Callable

import botocore.session
import yaml
from botocore.validate import ParamValidator

from smlocal.jobfile.document import Document
from smlocal.sagemaker.jobfile.job_file import read_job


def test_the_first_job_file_can_be_submitted_without_local(page: Callable[[str], str]) -> None:
    block = page("job-file.md").partition("\n    ")[2].partition("\n\n")[0]
    written = yaml.safe_load(textwrap.dedent(f"    {block}"))
    asked = {name: value for name, value in written.items() if name != "Local"}
    assert asked != written
    shape = (
        botocore.session.get_session().get_service_model("sagemaker").operation_model("CreateTrainingJob").input_shape
    )
    assert ParamValidator().validate(asked, shape).generate_report() == ""
    # Where the service asks for more than its client does.
    assert read_job(Document(written, name="job.yaml", directory="/work"), strict=True).local.Sources
