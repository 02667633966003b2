"""Print the requirements of the named groups of pyproject.toml, one a line.

Lets pip install the tools without building the package. Groups: ``build`` (what a build without
isolation needs), ``run`` (the package's own dependencies), or the name of an extra.
"""

import sys
import tomllib
from pathlib import Path


def main(groups: list[str]) -> None:
    """Print the requirements of all groups, each once."""
    config = tomllib.loads(Path(__file__).parents[1].joinpath("pyproject.toml").read_text())
    known = {
        "build": config["build-system"]["requires"] + config["dependency-groups"]["build"],
        "run": config["project"]["dependencies"],
        **config["project"]["optional-dependencies"],
    }
    for group in groups:
        if group not in known:
            sys.exit(f"group must be one of {', '.join(known)}, got {group}.")
    print("\n".join(dict.fromkeys(line for group in groups for line in known[group])))


if __name__ == "__main__":
    main(sys.argv[1:])
