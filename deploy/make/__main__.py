"""Writes man pages, shell completions and the settings file from what the binary says of itself:

python3 deploy/make --halite BINARY --into DIRECTORY

They name what `--help` of every subcommand and `serve --print-config=markdown` name, and nothing else.
"""

import argparse
import datetime
import os
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import command_help  # noqa: E402
import completions  # noqa: E402
import man_pages  # noqa: E402
import settings_file  # noqa: E402
import settings_reference  # noqa: E402


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--halite", type=pathlib.Path, required=True, help="the binary to ask")
    parser.add_argument("--into", type=pathlib.Path, required=True, help="the directory to write to")
    options = parser.parse_args()
    binary = options.halite.resolve()
    commands = command_help.read_all(binary)
    reference = settings_reference.read(binary)
    # The time of the commit when a package is built: the same bytes every time.
    written = datetime.datetime.fromtimestamp(int(os.environ.get("SOURCE_DATE_EPOCH", "0")), datetime.timezone.utc)
    head = man_pages.Head(date=f"{written:%Y-%m-%d}", version=command_help.version(binary))
    files = {
        "halite.1": man_pages.commands_page(head, commands),
        "halite.toml.5": man_pages.settings_page(head, reference),
        "halite.toml": settings_file.make(reference),
        "halite.bash": completions.bash(commands, reference),
        "_halite": completions.zsh(commands, reference),
        "halite.fish": completions.fish(commands, reference),
    }
    options.into.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (options.into / name).write_text(text)


if __name__ == "__main__":
    main()
