"""Ask every address that the pages of the repository link to whether it answers. `scripts/site links` runs it.

Addresses of the site itself, of this machine and of examples are left out. A server that does not answer is asked again
twice. Exits with 1 and the list if an address is gone (404, 410) or does not answer.
"""

import re
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.error import HTTPError, URLError
from urllib.request import Request, urlopen

ROOT = Path(__file__).resolve().parents[2]
PAGES = [
    *ROOT.glob("*.md"),
    *ROOT.glob("docs/*.md"),
    *ROOT.glob("examples/*/README.md"),
    *ROOT.glob("tests/contract/facts/*.yaml"),
]
_ADDRESS = re.compile(r"""(?:\]\(|url: ")(https?://[^)\s"]+)""")
_OWN = re.compile(r"https?://(smlocal\.github\.io|github\.com/smlocal|localhost|127\.|[^/]*\.amazonaws\.com)")
_GONE = (404, 410)
_SECONDS = 20
_TRIES = 3


def addresses() -> set[str]:
    """Without anchors."""
    found = {each.partition("#")[0] for page in PAGES for each in _ADDRESS.findall(page.read_text(encoding="utf-8"))}
    return {each for each in found if not _OWN.match(each)}


def problem(address: str) -> str:
    """The problem of the address, or nothing. A server that refuses programs (403, 429) is there."""
    said = ""
    for attempt in range(_TRIES):
        time.sleep(attempt)
        try:
            with urlopen(Request(address, headers={"User-Agent": "Mozilla/5.0 (links of smlocal)"}), timeout=_SECONDS):
                return ""
        except HTTPError as error:
            if error.code < 500:  # noqa: PLR2004 - errors of servers are from 500 on
                return f"HTTP {error.code}" if error.code in _GONE else ""
            said = f"HTTP {error.code}"
        except (URLError, TimeoutError, OSError) as error:
            said = str(error)
    return said


def main() -> int:
    """Print the problems; returns the exit code."""
    asked = sorted(addresses())
    with ThreadPoolExecutor(8) as pool:
        wrong = [(address, said) for address, said in zip(asked, pool.map(problem, asked), strict=True) if said]
    for address, said in wrong:
        print(f"{address}: {said}")
    print(f"{len(asked)} addresses, {len(wrong)} do not answer", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
