"""Lists of what a store found or did, which a notebook shows as tables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Generic, TypeVar

from store.changing import AliasMove
from store.records.audit import Change
from store.records.versions import Version

if TYPE_CHECKING:
    from store.asking import TokenPlace

__all__ = ["ChangeList", "MoveList", "PlaceList", "VersionList"]

T = TypeVar("T")
SHOWN = 3  # tags, aliases and metrics in a cell


class Table(list[T], Generic[T]):
    """A list that a notebook shows as a table."""

    columns: tuple[str, ...]

    def _repr_html_(self) -> str | None:
        from cbpe.views.html import block, table

        return block(table(self.columns, map(self.cells, self))) if self else None

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
        metrics = [[key, "=", number_text(value)] for key, value in item.metrics.items()]
        labels = ([[alias] for alias in item.aliases], tags, metrics)
        return (
            item.reference,
            item.vocab_size,
            item.n_special_tokens,
            item.time.isoformat(" ", "minutes"),
            *(Apart(in_commas(each, SHOWN)) for each in labels),
            item.parent,
        )


class PlaceList(Table["TokenPlace"]):
    columns = ("version", "id", "rank")

    @staticmethod
    def cells(item: TokenPlace) -> Sequence[object]:
        return (item.version.reference, item.id, item.rank)


class ChangeList(Table[Change]):
    columns = ("time", "who", "action", "version", "details")

    @staticmethod
    def cells(item: Change) -> Sequence[object]:
        from cbpe.views.changes import change_in_words

        version = item.name if item.number is None else f"{item.name}@{item.number}"
        return (item.time.isoformat(" ", "seconds"), item.who, item.action, version, change_in_words(item.details))


class MoveList(Table[AliasMove]):
    columns = ("alias", "version", "since")

    @staticmethod
    def cells(item: AliasMove) -> Sequence[object]:
        target = "removed" if item.number is None else f"{item.name}@{item.number}"
        return (item.alias, target, item.time.isoformat(" ", "seconds"))
