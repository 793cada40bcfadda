"""Lists of what a store found or did, which a notebook shows as tables."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import islice
from typing import TYPE_CHECKING, Generic, SupportsIndex, TypeVar, overload

from store.changing import AliasMove
from store.records.audit import Change
from store.records.versions import Version

if TYPE_CHECKING:
    from typing_extensions import Self

    from store.asking import TokenPlace

__all__ = ["ChangeList", "MoveList", "PlaceList", "VersionList"]

T = TypeVar("T")
MOST_ROWS = 100  # of a table
SHOWN = 3  # tags, aliases and metrics in a cell
DIGEST = re.compile(r"sha256:[0-9a-f]{64}")
DIGITS = 12  # of a digest in a cell
METRIC_DIGITS = 10  # so many that what somebody typed stays as it is


class Table(list[T], Generic[T]):
    """A list that a notebook shows as a table, as it does a slice of it. Of a long one it shows the first rows."""

    columns: tuple[str, ...]

    @overload
    def __getitem__(self, place: SupportsIndex, /) -> T: ...
    @overload
    def __getitem__(self, place: slice, /) -> Self: ...
    def __getitem__(self, place: SupportsIndex | slice, /) -> T | Self:
        return type(self)(super().__getitem__(place)) if isinstance(place, slice) else super().__getitem__(place)

    def _repr_html_(self) -> str | None:
        from cbpe.views.html import block, table

        if not self:
            return None
        shown = table(self.columns, map(self.cells, islice(self, MOST_ROWS)))
        more = len(self) - MOST_ROWS
        return block(shown, f'<p class="dim">and {more:,} more</p>' if more > 0 else "")

    def __reduce__(self) -> tuple[type[list[T]], tuple[list[T]]]:
        return list, (list(self),)  # what is pickled or copied is a plain list, which needs no name of this module

    @staticmethod
    def cells(item: T) -> Sequence[object]:
        raise NotImplementedError


class VersionList(Table[Version]):
    columns = ("version", "tokens", "special", "saved", "aliases", "tags", "metrics", "parent")

    @staticmethod
    def cells(item: Version) -> Sequence[object]:
        from cbpe.common.wording import number_text
        from cbpe.views.html import Apart, in_commas

        tags = [[key, "=", value] if value else [key] for key, value in item.tags.items()]
        metrics = [[key, "=", number_text(float(f"{value:.{METRIC_DIGITS}g}"))] for key, value in item.metrics.items()]
        labels = ([[alias] for alias in item.aliases], tags, metrics)
        return (
            item.reference,
            item.vocab_size,
            item.n_special_tokens,
            item.time.isoformat(" ", "minutes"),
            *(Apart(in_commas(each, SHOWN)) for each in labels),
            parent_shown(item.parent),
        )


def parent_shown(parent: str | None) -> str | None:
    """A parent that is no version in the store by the first digits of its digest."""
    if parent is not None and DIGEST.fullmatch(parent):
        return parent[: len("sha256:") + DIGITS]
    return parent


class PlaceList(Table["TokenPlace"]):
    columns = ("version", "id", "rank")

    @staticmethod
    def cells(item: TokenPlace) -> Sequence[object]:
        from cbpe.views.html import LeftToRight

        return (item.version.reference, LeftToRight(item.id), item.rank)  # an id is a name, and has no commas


class ChangeList(Table[Change]):
    columns = ("time", "who", "action", "version", "details")

    @staticmethod
    def cells(item: Change) -> Sequence[object]:
        from cbpe.views.changes import change_in_words
        from cbpe.views.html import Apart

        version = item.name if item.number is None else f"{item.name}@{item.number}"
        details = Apart(part for part in re.split("(, |=)", change_in_words(item.details)) if part)
        return (item.time.isoformat(" ", "seconds"), item.who, item.action, version, details)


class MoveList(Table[AliasMove]):
    columns = ("alias", "version", "since")

    @staticmethod
    def cells(item: AliasMove) -> Sequence[object]:
        target = "removed" if item.number is None else f"{item.name}@{item.number}"
        return (item.alias, target, item.time.isoformat(" ", "seconds"))
