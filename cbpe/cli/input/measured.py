"""The tags of a version that say how its metrics were measured, which compare and sweep keep there."""

from __future__ import annotations

__all__ = [
    "DEPENDING",
    "MEASURED_AGAINST",
    "MEASURED_ALPHA",
    "MEASURED_BYTES",
    "MEASURED_EARLIER",
    "MEASURED_ON",
    "MEASURED_PARALLEL",
    "OF_CORPUS",
    "is_of_metrics",
]

MEASURED_ON = "measured_on"  # the corpus of metrics whose own names do not name one
MEASURED_BYTES = "measured_bytes"  # the size of the corpus: another text of the same name seldom has the same
MEASURED_AGAINST = "measured_against"  # the reference of NSL
MEASURED_ALPHA = "measured_alpha"  # the order of the Rényi entropy
MEASURED_PARALLEL = "measured_parallel"  # the text that others translate
# That metrics which name no corpus are older than those that name theirs, which are of aligned lines.
MEASURED_EARLIER = "measured_earlier"
# Tags -> the measures that depend on what they say.
DEPENDING = {
    MEASURED_AGAINST: ("nsl",),
    MEASURED_ALPHA: ("renyi_efficiency", "renyi_efficiency_seen"),
    MEASURED_PARALLEL: ("premium", "parity", "gini"),
}
# The tags of the measures of one corpus. Where there are several, they have its name behind their own, as its measures.
OF_CORPUS = (MEASURED_BYTES, *DEPENDING)


def is_of_metrics(tag: str) -> bool:
    """Whether a tag says how metrics were measured: "measured_on", "measured_alpha:de.txt" """
    return tag.partition(":")[0] in (MEASURED_ON, MEASURED_EARLIER, *OF_CORPUS)
