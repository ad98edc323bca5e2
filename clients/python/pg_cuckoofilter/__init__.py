"""Filters of PostgreSQL's extension cuckoo, probed without a server."""

from .elements import ElementError, Interval
from .filter import CuckooFilter, InvalidImage

__all__ = ["CuckooFilter", "ElementError", "Interval", "InvalidImage"]
