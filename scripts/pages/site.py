"""What MkDocs calls while it builds the site: pages that are made from the code, and links that lead out of docs."""

from pathlib import Path
from typing import Any

from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files
from pages.checks import checks_markdown
from pages.commands import command_names, command_page, commands_table
from pages.coverage import ai_platform_coverage, sagemaker_coverage
from pages.debugger_rules import rules_markdown
from pages.errors import errors_markdown
from pages.inserted import with_tables
from pages.site_text import for_the_site
from pages.truth import truth_markdown

ROOT = Path(__file__).resolve().parents[2]
APPENDED = {
    "ai-platform-coverage.md": ai_platform_coverage,
    "checks.md": checks_markdown,
    "cli.md": commands_table,
    "coverage.md": sagemaker_coverage,
    "debugger-rules.md": rules_markdown,
    "errors.md": errors_markdown,
    "truth.md": truth_markdown,
}
"""The text from the code at the end of a page."""


def on_config(config: Any) -> Any:
    """Put the pages of the commands below that of the command line."""
    for part in config.nav:
        pages = part.get("Reference") if isinstance(part, dict) else None
        if pages:
            at = pages.index("cli.md")
            pages[at] = {"Commands": ["cli.md", *(f"cli/{name}.md" for name in command_names())]}
    return config


def on_files(files: Files, config: Any) -> Files:
    """Add a page for each command."""
    for name in command_names():
        files.append(File.generated(config, f"cli/{name}.md", content=command_page(name)))
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Files) -> str:
    """One page, as MkDocs needs it."""
    del files
    name = page.file.src_uri
    if name in APPENDED:
        markdown = f"{markdown.rstrip()}\n\n{APPENDED[name]()}"
    text, missing = for_the_site(with_tables(markdown), name, ROOT, config.repo_url)
    if missing:
        raise PluginError(f"{name} links to what is not in the repository: {', '.join(missing)}")
    return text
