"""Each module is a trial: `cases`, a strategy of what can be written as JSON, and `check(case)`, which raises."""
