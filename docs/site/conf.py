"""How Sphinx makes the site from the Markdown of this repository: ./dev docs.

The pages stay plain Markdown for readers of the repository. Their links make the navigation: the lists
of docs/README.md and docs/internals/README.md become its entries, so a page that no list names is an error.
"""

import pathlib
import posixpath
import re

from pygments.lexers.special import TextLexer
from sphinx.highlighting import lexers

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
INDEXES = ("docs/README", "docs/internals/README")

project = "Halite"
version = release = re.search(r"^project\(halite VERSION (\S+)", (ROOT / "CMakeLists.txt").read_text(),
                              re.MULTILINE).group(1)
html_title = f"Halite {version}"
html_show_copyright = False

extensions = ["myst_parser"]
root_doc = "docs/README"
include_patterns = ["*.md", "docs/*.md", "docs/**/*.md", "grafana/*.md", "tests/*/README.md", "web/ui/README.md"]
exclude_patterns = ["build", "docs/site"]
myst_heading_anchors = 6  # as GitHub names them
myst_links_external_new_tab = False

html_theme = "furo"
html_theme_options = {"source_repository": "", "footer_icons": []}
html_extra_path = ["index.html"]
html_show_sphinx = False
html_copy_source = False
html_static_path = []

highlight_language = "text"  # of blocks without a language
lexers["alloy"] = TextLexer()


def pages_named(name, text):
    """{section: [document]} that the page's links name, each document once."""
    sections, heading = {}, ""
    for line in text.splitlines():
        if line.startswith("## "):
            heading = line[3:].strip()
        for target in re.findall(r"\]\(([^)#\s]+\.md)\)", line):
            if "://" not in target:
                document = posixpath.normpath(posixpath.join(posixpath.dirname(name), target))
                sections.setdefault(heading, []).append(document.removesuffix(".md"))
    return sections


def add_navigation(app, name, source):
    """Adds the hidden lists that Sphinx makes the navigation from."""
    if posixpath.basename(name) == "README" and not name.startswith("docs/"):
        source[0] = "---\norphan: true\n---\n" + source[0]  # of a folder of the code: found by links alone
    if name not in INDEXES:
        return
    seen = {name, *INDEXES[:INDEXES.index(name)]}
    if name != root_doc:  # what the front page lists stays there
        listed = pages_named(root_doc, (ROOT / f"{root_doc}.md").read_text())
        seen |= {document for documents in listed.values() for document in documents}
    for heading, documents in pages_named(name, source[0]).items():
        fresh = [one for one in dict.fromkeys(documents) if one not in seen]
        seen |= set(fresh)
        if fresh:
            lines = [f"/{document}" for document in fresh]
            caption = [f":caption: {heading}"] if heading and name == root_doc else []
            source[0] += "\n".join(["", "", "```{toctree}", ":hidden:", *caption, "", *lines, "```", ""])


def setup(app):
    app.connect("source-read", add_navigation)
