"""What the trials found once: each case is checked again."""

import os

import pytest

from hostile import runner


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks here")
@pytest.mark.parametrize("finding", runner.kept(), ids=lambda finding: runner.file_name(finding))
def test_a_case_that_failed_once_fails_no_more(finding):
    trial = runner.trial_named(finding.trial)
    try:
        with runner.resources(trial):
            runner.check_alone(trial, finding.case)
    except runner.CannotTry as why:
        pytest.skip(str(why))
