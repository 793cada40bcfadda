"""Where the project is, and the optional data beside it."""

import os
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
SHARED = Path(os.environ.get("CBPE_SHARED", ROOT.parent / "shared"))
TAYLOR_SWIFT = SHARED / "minbpe" / "taylorswift.txt"
