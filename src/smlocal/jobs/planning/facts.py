"""The facts that a plan needs about this machine. The `prepare` of a platform gathers it."""

from dataclasses import field

from smlocal.base.quick_dataclass import dataclass
from smlocal.engine.facts import ImageFacts
from smlocal.jobs.planning.aspects.engines.plan import EnginesFacts
from smlocal.jobs.planning.aspects.inputs.plan import InputFacts
from smlocal.jobs.planning.aspects.mirrored.plan import MirroredFacts
from smlocal.jobs.planning.aspects.network.plan import NetworkFacts
from smlocal.jobs.planning.aspects.output.plan import OutputFacts
from smlocal.jobs.planning.aspects.rules.plan import RuleFacts


@dataclass(frozen=True, kw_only=True, slots=True)
class Facts:
    """Everything about this machine that decides how a request is run."""

    region: str
    account: str
    run_id: str
    """Eight hex digits that distinguish the containers and volumes of two runs."""
    job_directory: str
    """The absolute folder of the job in smlocal's home."""
    engines: EnginesFacts
    image: ImageFacts | None
    """None if the image is not on the engine: a plan is possible, a run pulls the image first."""
    inputs: InputFacts
    output: OutputFacts
    network: NetworkFacts = field(default_factory=NetworkFacts)
    mirrored: MirroredFacts = field(default_factory=MirroredFacts)
    rules: RuleFacts = field(default_factory=RuleFacts)
