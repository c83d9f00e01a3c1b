"""What a place that restricts its engine does not let a job have, and which folders its containers can mount there.

Only jobs in such a place import this. Nothing is asked of the engine: what is known of the place decides.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Final

from smlocal.engine.facts import Place
from smlocal.engine.place import is_in_home, users_home
from smlocal.errors import EngineRemoteError, HomeUnusableError
from smlocal.errors.of_jobs import NotInPlaceError, OneHostError
from smlocal.jobfile.settings import LocalSettings
from smlocal.jobs.planning.aspects.inputs.plan import InputFacts
from smlocal.terms.listing import Listing

ELSEWHERE: Final = "Or run the job on the service: smlocal submit"


def check_place(
    place: Place, local: LocalSettings, *, hosts: int, isolated: bool, home: str, elsewhere: str = ELSEWHERE
) -> None:
    """Refuse what is not possible there, before anything is made. `elsewhere`: what can be done without the place."""
    if hosts > 1:
        raise OneHostError(
            f"{hosts} hosts cannot run in {place.name}: all containers share the network {place.network} and its "
            "ports, and have no names there",
            remedy=[
                "Run one host here: --instance-count 1 (ResourceConfig.InstanceCount).",
                elsewhere,
            ],
        )
    if not is_in_home(home):
        raise HomeUnusableError(
            f"the folder with the job records is not below your home folder: {home}",
            details=[f"{place.name} is known to mount only folders below {users_home()} into containers."],
            remedy=["Unset SMLOCAL_HOME, or set it to a folder below that one."],
        )
    asked = [*_refused(local), *(["EnableNetworkIsolation"] if isolated else ())]
    if asked:
        raise NotInPlaceError(
            f"{', '.join(asked)}: not possible in {place.name}, where all containers are on the network "
            f"{place.network}, which smlocal and the editor share",
            remedy=[
                *(["Run without isolation here: --set EnableNetworkIsolation=false"] if isolated else ()),
                *(
                    ["Leave these settings out: jobs reach services of this space at 127.0.0.1"]
                    if len(asked) > isolated
                    else ()
                ),
                elsewhere,
            ],
        )


def refuse_platform(place: Place, what: str) -> None:
    """Refuse a job of another platform."""
    raise NotInPlaceError(
        f"{what} are not possible in {place.name}: its containers have no network of their own",
        remedy=["Run it on a machine with an ordinary engine."],
    )


def _refused(local: LocalSettings) -> Iterator[str]:
    """Settings about networks and names. Others make no difference there."""
    if local.Network:
        yield f"Local.Network: {local.Network}"
    if local.Networks:
        yield "Local.Networks"
    if local.AddHosts:
        yield "Local.AddHosts"
    if any(fault.Kind == "LateNames" for fault in local.Faults):
        yield "Local.Faults: LateNames"


def inputs_there(place: Place, inputs: InputFacts, pipes: Iterable[str]) -> InputFacts:
    """Have folders outside the home copied. A file system that is outside is an error. `pipes`: names of channels."""
    for name, listing in inputs.file_systems.items():
        if not is_in_home(listing.root):
            raise EngineRemoteError(
                f'channel "{name}": {place.name} mounts folders of {users_home()}, and {listing.root} is not one',
                remedy=["Use a folder below your home folder, or a channel in File mode, which is copied."],
            )
    piped = frozenset(pipes)

    def judged(listing: Listing) -> Listing:
        if listing.remote or not listing.whole_tree or is_in_home(listing.root):
            return listing
        return replace(listing, copy_reasons=(f"{listing.root} is not below your home folder",))

    return replace(
        inputs,
        listings={name: each if name in piped else judged(each) for name, each in inputs.listings.items()},
        code=None if inputs.code is None else judged(inputs.code),
    )
