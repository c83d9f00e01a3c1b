"""Names of a job's inputs that are one name on the disk of smlocal's home. Only jobs with such a home import this."""

from smlocal.base.alike_names import first_alike
from smlocal.errors.of_jobs import NamesAlikeError
from smlocal.jobs.planning.aspects.engines.look import PlacedEngines
from smlocal.jobs.planning.aspects.inputs.plan import InputFacts
from smlocal.jobs.planning.workload import AskedChannel, Workload


def check_names(work: Workload, inputs: InputFacts, placed: PlacedEngines) -> None:
    """Refuse names that would be one on the disk of the home, which ignores case: all but one file would be lost."""
    if placed.first.facts.shares_folders and (pair := first_alike(each.name for each in work.channels)):
        raise _alike("the channels ", pair)
    listings = {
        f'channel "{each.name}": ': inputs.listings.get(each.name) for each in work.channels if _stored(each, inputs)
    }
    for subject, listing in {**listings, "the code: ": inputs.code}.items():
        kept = listing is None or (not listing.remote and listing.whole_tree and not listing.copy_reasons)
        if listing is not None and not kept and (pair := first_alike(listing.paths)):
            raise _alike(subject, pair)


def _stored(channel: AskedChannel, inputs: InputFacts) -> bool:
    """Whether the files of a channel get names on this machine."""
    return channel.mode == "File" or (channel.mode == "FastFile" and inputs.no_fuse is not None)


def _alike(subject: str, pair: tuple[str, str]) -> NamesAlikeError:
    return NamesAlikeError(
        f"{subject}{pair[0]} and {pair[1]} are one name on the disk of smlocal's home, which ignores case",
        remedy=["Rename one of them, or set SMLOCAL_HOME to a folder on a case-sensitive disk."],
    )
