"""Check that the folders of the engine include one way, as import-linter does for Python."""

import re
import sys
from pathlib import Path

ENGINE = Path(__file__).resolve().parents[1] / "cpp"
# Each rests on those before it.
LAYERS = ("base", "bins", "sums", "search", "forest", "growth", "shap", "boosting")
INCLUDE = re.compile(r'^#include "(?:committee/)?(\w+)/\w+\.hpp"', re.MULTILINE)


def main() -> int:
    """Print includes of later layers and files outside of the layers; return 1 if there are any."""
    faults = []
    files = sorted(
        path
        for root in (ENGINE / "src", ENGINE / "include" / "committee")
        for path in root.rglob("*.?pp")
    )
    for path in files:
        name, layer = path.relative_to(ENGINE), path.parent.name
        if layer not in LAYERS:
            faults.append(f"{name}: {layer} is no layer; they are {', '.join(LAYERS)}")
            continue
        allowed = LAYERS[: LAYERS.index(layer) + 1]
        for other in INCLUDE.findall(path.read_text(encoding="utf-8")):
            if other not in allowed:
                faults.append(f"{name}: includes {other}/, which {layer}/ may not")
    for fault in faults:
        print(fault, file=sys.stderr)
    print(f"layers: {len(files)} files of the engine, {len(faults)} fault(s)")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
