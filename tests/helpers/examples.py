"""How many examples Hypothesis draws for a test that wants more or fewer of them than others do."""

from hypothesis import settings

USUAL = 50  # of the profile that runs by default (conftest.py)


def examples(number):
    """Draw so many with the profile that runs by default, and proportionally fewer with the profile `few`."""
    return settings(max_examples=max(1, number * settings.default.max_examples // USUAL))
