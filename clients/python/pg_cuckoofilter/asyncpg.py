"""asyncpg: columns and parameters of the type cuckoofilter.

    await register_cuckoofilter(connection)
    asyncpg.create_pool(init=register_cuckoofilter)
"""

from __future__ import annotations

from typing import Any

from .filter import CuckooFilter, image_of


async def register_cuckoofilter(connection: Any) -> None:
    """Filters are sent and received as CuckooFilter on this connection."""
    schema = await connection.fetchval(
        "SELECT nspname FROM pg_type t JOIN pg_namespace n ON n.oid = typnamespace"
        " WHERE t.oid = to_regtype('cuckoofilter')"
    )
    if schema is None:
        raise LookupError("there is no type cuckoofilter: CREATE EXTENSION cuckoo")
    await connection.set_type_codec(
        "cuckoofilter", schema=schema, encoder=image_of, decoder=CuckooFilter, format="binary"
    )
