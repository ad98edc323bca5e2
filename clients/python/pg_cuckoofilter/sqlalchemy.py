"""SQLAlchemy: a column of the type cuckoofilter."""

from __future__ import annotations

from typing import Any, Callable

from sqlalchemy import cast
from sqlalchemy.types import UserDefinedType

from .filter import CuckooFilter


class CuckooFilterType(UserDefinedType):
    """Values are CuckooFilter.  This works with any driver for PostgreSQL."""

    cache_ok = True

    def get_col_spec(self, **kw: Any) -> str:
        return "cuckoofilter"

    def bind_expression(self, bindvalue: Any) -> Any:
        return cast(bindvalue, self)

    def bind_processor(self, dialect: Any) -> Callable[[CuckooFilter | None], str | None]:
        return lambda value: None if value is None else str(value)

    def result_processor(self, dialect: Any, coltype: Any) -> Callable[[Any], CuckooFilter | None]:
        def process(value: Any) -> CuckooFilter | None:
            return value if value is None or isinstance(value, CuckooFilter) else CuckooFilter(value)

        return process
