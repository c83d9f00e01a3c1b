"""Inputs for engines that see some folders of this machine and not others."""

from dataclasses import replace

from smlocal.contract.listing import Listing
from smlocal.errors import EngineRemoteError
from smlocal.job.prepare.placed_engines import PlacedEngines
from smlocal.job.prepare.seen_folders import engines_with_other_mounts, is_folder_seen, is_listing_seen
from smlocal.platforms.sagemaker.contract.documents.config_files import effective_mode
from smlocal.platforms.sagemaker.jobfile.job_file import JobFile
from smlocal.platforms.sagemaker.prepare.inputs import Inputs


def seen_inputs(job: JobFile, inputs: Inputs, placed: PlacedEngines, image: str) -> Inputs:
    """Have folders that cannot be mounted copied. A file system that cannot be mounted is an error."""
    engines = engines_with_other_mounts(placed.each)
    if not engines:
        return inputs
    for name, listing in inputs.file_systems.items():
        blind = next((each for each in engines if not is_folder_seen(listing.root, [each], image)), None)
        if blind is not None:
            raise EngineRemoteError(
                f'channel "{name}": the engine at {blind.facts().address} does not see {listing.root} '
                "and cannot mount it as a file system",
                remedy=["Use a folder that the engine sees at the same path."],
            )

    def judged(listing: Listing) -> Listing:
        mounted = listing.whole_tree and not listing.remote and not listing.copy_reasons
        if not mounted or is_listing_seen(listing, engines, image):
            return listing
        return replace(listing, copy_reasons=(f"the engine does not see {listing.root}",))

    pipes = {c.ChannelName for c in job.request.InputDataConfig or () if effective_mode(c, job.request) == "Pipe"}
    return replace(
        inputs,
        listings={name: each if name in pipes else judged(each) for name, each in inputs.listings.items()},
        code=None if inputs.code is None else judged(inputs.code),
    )
