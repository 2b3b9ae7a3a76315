#!/usr/bin/env python3
"""Checks that the links in the Markdown files of the repository lead to files and headings that exist."""
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent


def without_code(text):
    """The text without listings and code spans, in which brackets are no links."""
    return re.sub(r"```.*?```|`[^`\n]*`", "", text, flags=re.S)


def anchors(path):
    """The anchors that GitHub gives to the headings of a page."""
    text = re.sub(r"```.*?```", "", path.read_text(encoding="utf-8"), flags=re.S)
    headings = re.findall(r"^#+ +(.*)$", text, flags=re.M)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def broken(page):
    for target in re.findall(r"\]\(([^)\s]+)\)", without_code(page.read_text(encoding="utf-8"))):
        if re.match(r"[a-z]+:", target):
            continue
        name, _, anchor = target.partition("#")
        path = (page.parent / name).resolve() if name else page
        # Templates are read as the pages that they become.
        if page.parent.name == "templates" and name:
            home = ROOT / "docs" if page.stem == "index" else ROOT / "docs/results"
            path = (home / name).resolve()
        if not path.exists():
            yield f"{page.relative_to(ROOT)}: {target}: no such file"
        elif anchor and anchor not in anchors(path):
            yield f"{page.relative_to(ROOT)}: {target}: no such heading"


def main():
    listed = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard", "*.md"], cwd=ROOT, capture_output=True, text=True
    )
    pages = [ROOT / name for name in listed.stdout.split()] if listed.returncode == 0 else [*ROOT.glob("docs/**/*.md")]
    problems = [problem for page in pages if page.exists() for problem in broken(page)]
    if problems:
        sys.exit("\n".join(problems))


if __name__ == "__main__":
    main()
