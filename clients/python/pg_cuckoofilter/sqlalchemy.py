"""SQLAlchemy: a column of the type cuckoofilter, with any driver for PostgreSQL."""

from __future__ import annotations

from typing import Any, Callable

from sqlalchemy import BigInteger, Boolean, Integer, cast, literal, type_coerce
from sqlalchemy.dialects.postgresql.base import ischema_names
from sqlalchemy.sql.elements import BindParameter
from sqlalchemy.sql.functions import GenericFunction
from sqlalchemy.sql.operators import contains_op, custom_op
from sqlalchemy.types import NullType, UserDefinedType

from .filter import CuckooFilter, text_of

# high, so that operands are in parentheses: PostgreSQL reads a @> b || c from left to right
CONTAINS: Any = custom_op("@>", precedence=15, is_comparison=True)


def is_contains(op: Any) -> bool:
    return op is contains_op or getattr(op, "opstring", None) == "@>"


class Element(UserDefinedType):
    """A value that the driver sends as it is, because SQLAlchemy has no type for it."""

    cache_ok = True


class CuckooFilterType(UserDefinedType):
    """Values are CuckooFilter; an image or a text form can be assigned, too."""

    cache_ok = True

    class Comparator(UserDefinedType.Comparator):
        def contains_element(self, element: Any) -> Any:
            """filter @> element.  The operand is an element, not a filter."""
            if isinstance(element, BindParameter) and isinstance(element.type, NullType):
                element = type_coerce(element, Element())
            return super().operate(CONTAINS, element, result_type=Boolean())

        def operate(self, op: Any, *other: Any, **kwargs: Any) -> Any:
            if is_contains(op):
                return self.contains_element(*other)
            return super().operate(op, *other, **kwargs)

    comparator_factory = Comparator

    def coerce_compared_value(self, op: Any, value: Any) -> Any:
        if not is_contains(op):
            return self
        type_ = literal(value).type
        if isinstance(type_, Integer):
            return BigInteger()  # SQLAlchemy 1.4 would limit it to 32 bits
        return Element() if isinstance(type_, NullType) else type_

    def get_col_spec(self, **kw: Any) -> str:
        return "cuckoofilter"

    def bind_expression(self, bindvalue: Any) -> Any:
        return cast(bindvalue, self)

    def bind_processor(self, dialect: Any) -> Callable[[Any], str | None]:
        return lambda value: None if value is None else text_of(value)

    def literal_processor(self, dialect: Any) -> Callable[[Any], str]:
        return lambda value: f"'{text_of(value)}'"

    def result_processor(self, dialect: Any, coltype: Any) -> Callable[[Any], CuckooFilter | None]:
        def process(value: Any) -> CuckooFilter | None:
            return value if value is None or isinstance(value, CuckooFilter) else CuckooFilter(value)

        return process


# for the reflection of tables, and for the results of functions
ischema_names["cuckoofilter"] = CuckooFilterType
for name in """cf_add cf_add_all cf_add_filter cf_add_unique cf_add_unique_all cf_agg cf_at_least_agg cf_clear cf_canonical
    cf_delete cf_delete_all cf_intersect cf_intersect_agg cf_new cf_union cf_union_agg
    cf_union_all cf_union_all_agg""".split():
    type(name, (GenericFunction,), {"name": name, "type": CuckooFilterType(), "inherit_cache": True})
