"""What all tests share: reproducible Hypothesis runs and the optional data beside the project."""

import os
from pathlib import Path

from hypothesis import settings

settings.register_profile("cbpe", derandomize=True, deadline=None, max_examples=200)
settings.load_profile("cbpe")

SHARED = Path(os.environ.get("CBPE_SHARED", Path(__file__).resolve().parent.parent.parent / "shared"))
