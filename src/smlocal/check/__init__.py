"""Checks of a training image: rules, the data that they look at, and their findings.

The way of one check:

1. `check_image` is the whole check. `registry` chooses the rules. Each module of `rules` has one topic, and a
   `Rule` (`interface`) has texts, an example, the files that it wants, and a function from a `Subject` to findings.
2. Its `look_at` makes the `Subject`. The image is read once, as a stream (`saved_image`), for all files that any rule
   wants; the result is stored under the image's id.
3. If a rule wants jobs, `jobs.run_jobs` runs a plain one on little data, then the others side by side, each changed
   in one respect (`jobs.scenarios`). Rules judge a `JobResult`.
4. If a rule wants an endpoint, `serving.run_endpoint` deploys one, with the model of the plain job if
   wanted, and sends it all requests of rules (`Probe`). Rules judge an `EndpointSeen`.
5. `examine` asks the rules, those that run jobs last, then those about the endpoint. One that raises
   `CannotLookError` is skipped, not passed. `places` finds the line of the Dockerfile or the job file for each
   finding; then ignored findings are taken out.
6. The screen, `--json` and `report_forms` get only the `CheckReport`.

A check has a locked folder in the home, so the next check can tell dead ones and remove their jobs.
"""

DEFAULT_TIMEOUT = 60
"""Seconds of training of a job of a check."""
LONGEST_TIMEOUT = 86_400
