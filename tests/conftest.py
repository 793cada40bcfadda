"""What all tests share: reproducible Hypothesis runs and the optional data beside the project."""

from pathlib import Path

from hypothesis import settings

settings.register_profile("cbpe", derandomize=True, deadline=None, max_examples=200)
settings.load_profile("cbpe")

SHARED = Path(__file__).resolve().parent.parent.parent / "shared"
