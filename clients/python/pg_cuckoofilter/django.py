"""Django: a field of the type cuckoofilter, functions for queries, an index, and a constraint."""

from __future__ import annotations

from typing import Any

from django.contrib.postgres.constraints import ExclusionConstraint
from django.contrib.postgres.indexes import PostgresIndex
from django.db import models

from .filter import CuckooFilter, text_of

__all__ = ["CfAdd", "CfAgg", "CfContains", "CfNew", "CuckooExclusionConstraint", "CuckooFilterField", "CuckooIndex"]

LOOKUPS = ("exact", "in", "isnull", "contains", "contains_element")
OPTIONS = ("fillfactor",)


class CuckooFilterField(models.Field):
    """Values are CuckooFilter; an image or a text form can be assigned, too.

    f__contains_element=v, or f__contains=v, is "f @> v".  Forms leave the field
    out unless it is editable.
    """

    description = "Cuckoo filter"
    empty_strings_allowed = False

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        kwargs.setdefault("editable", False)
        super().__init__(*args, **kwargs)

    def db_type(self, connection: Any) -> str:
        return "cuckoofilter"

    def to_python(self, value: Any) -> CuckooFilter | None:
        return value if value is None or isinstance(value, CuckooFilter) else CuckooFilter(value)

    def from_db_value(self, value: Any, expression: Any, connection: Any) -> CuckooFilter | None:
        return self.to_python(value)

    def get_prep_value(self, value: Any) -> str | None:
        value = super().get_prep_value(value)
        return None if value is None else text_of(value)

    def get_lookup(self, lookup_name: str) -> Any:
        # the others are of texts, and would look in the base64
        return super().get_lookup(lookup_name) if lookup_name in LOOKUPS else None


@CuckooFilterField.register_lookup
class ContainsElement(models.Lookup):
    lookup_name = "contains_element"
    prepare_rhs = False  # an element, not a filter

    def as_sql(self, compiler: Any, connection: Any) -> tuple[str, tuple[Any, ...]]:
        lhs, lhs_params = self.process_lhs(compiler, connection)
        rhs, rhs_params = self.process_rhs(compiler, connection)
        return f"{lhs} @> {rhs}", (*lhs_params, *rhs_params)


CuckooFilterField.register_lookup(ContainsElement, "contains")


class CfNew(models.Func):
    """cf_new(...): an empty filter, which only the server can make."""

    function = "cf_new"
    output_field = CuckooFilterField()

    def __init__(self, capacity: float = 1e6, fpp: float = 0.001, seed: int = 0, element: str | None = None) -> None:
        super().__init__(*map(models.Value, (capacity, fpp, seed, element)))


class CfContains(models.Func):
    """cf_contains(filter, element): a condition."""

    function = "cf_contains"
    output_field = models.BooleanField()


class CfAdd(models.Func):
    """cf_add(filter, element): the filter with it."""

    function = "cf_add"
    output_field = CuckooFilterField()


class CfAgg(models.Aggregate):
    """cf_agg(element, ...): the filter of a column."""

    function = "cf_agg"
    output_field = CuckooFilterField()


class CuckooIndex(PostgresIndex):
    """CREATE INDEX ... USING cuckoo, with its options as arguments.

    unique=True needs PostgreSQL 18.
    """

    suffix = "cuckoo"

    def __init__(self, *expressions: Any, unique: bool = False, **kwargs: Any) -> None:
        self.unique = unique
        self.options = {name: kwargs.pop(name) for name in OPTIONS if name in kwargs}
        super().__init__(*expressions, **kwargs)

    def deconstruct(self) -> tuple[str, Any, dict[str, Any]]:
        path, expressions, kwargs = super().deconstruct()
        return path, expressions, {**kwargs, **self.options, **({"unique": True} if self.unique else {})}

    def create_sql(self, model: Any, schema_editor: Any, using: str = "", **kwargs: Any) -> Any:
        statement = super().create_sql(model, schema_editor, using, **kwargs)
        if self.unique:
            statement.template = statement.template.replace(" INDEX ", " UNIQUE INDEX ", 1)
        return statement

    def get_with_params(self) -> list[str]:
        return [f"{name} = {value}" for name, value in self.options.items()]


class CuckooExclusionConstraint(ExclusionConstraint):
    """EXCLUDE USING cuckoo.  Django's own class accepts only some index types."""

    def __init__(self, *, index_type: str = "cuckoo", **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.index_type = index_type
