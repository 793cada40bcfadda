"""A page in Chromium, as a test waits for it."""

import pytest

__all__ = ["shows"]


def shows(page, script):
    """Wait until an expression is true. Playwright's own way evaluates strings, which the page's policy forbids."""
    for _ in range(1200):  # a minute, which a busy machine may need
        if page.evaluate(script):
            return
        page.wait_for_timeout(50)
    pytest.fail(f"never true: {script}")
