"""The adapters of drivers and ORMs, against a live server with the extension.

What is not installed is skipped.  That of psycopg 3 is in test_server.py.
"""

import asyncio
import importlib
import json
import unittest
import uuid

from pg_cuckoofilter import CuckooFilter, InvalidImage

MADE = "SELECT cf_agg(i::text) FROM generate_series(1, 100) i"
NUMBERS = "SELECT cf_agg(i::bigint) FROM generate_series(1, 100) i"
ELEMENT = "An element is the second argument of cf_contains"


def installed(name):
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


def needs(*names):
    missing = [name for name in names if not installed(name)]
    return unittest.skipIf(missing, f"{', '.join(missing)} not installed")


@needs("psycopg2")
class Psycopg2(unittest.TestCase):
    def connect(self):
        connection = importlib.import_module("psycopg2").connect("")
        self.addCleanup(connection.close)
        return connection

    def fetch(self, connection, query, *parameters):
        with connection.cursor() as cursor:
            cursor.execute(query, parameters)
            return cursor.fetchone()[0]

    def test_round_trip(self):
        from pg_cuckoofilter.psycopg2 import register_cuckoofilter

        connection = self.connect()
        register_cuckoofilter(connection)
        f = self.fetch(connection, MADE)
        self.assertIn("17", f)
        self.assertEqual(self.fetch(connection, "SELECT %s", f), f)
        self.assertEqual(self.fetch(connection, "SELECT %s", [f, f]), [f, f])
        self.assertEqual(self.fetch(connection, "SELECT ARRAY[NULL, %s]", f), [None, f])
        self.assertIsNone(self.fetch(connection, "SELECT NULL::cuckoofilter"))
        self.assertTrue(self.fetch(connection, "SELECT %s @> '17'", f))
        self.assertIsInstance(self.fetch(self.connect(), MADE), str)

    def test_globally(self):
        extensions = importlib.import_module("psycopg2").extensions
        from pg_cuckoofilter.psycopg2 import register_cuckoofilter

        before = dict(extensions.string_types)
        try:
            register_cuckoofilter(self.connect(), globally=True)
            self.assertIsInstance(self.fetch(self.connect(), MADE), CuckooFilter)
        finally:
            extensions.string_types.clear()
            extensions.string_types.update(before)

    def test_without_type(self):
        from pg_cuckoofilter.psycopg2 import register_cuckoofilter

        connection = self.connect()
        self.fetch(connection, "SELECT set_config('search_path', 'pg_catalog', false)")
        with self.assertRaisesRegex(importlib.import_module("psycopg2").ProgrammingError, "CREATE EXTENSION cuckoo"):
            register_cuckoofilter(connection)

    def test_hint(self):
        """An element in place of a filter: the server says where it belongs."""
        with self.assertRaises(importlib.import_module("psycopg2").errors.InvalidTextRepresentation) as caught:
            self.fetch(self.connect(), "SELECT cf_contains(%s, 1)", "https://bad.example/")
        self.assertIn(ELEMENT, caught.exception.diag.message_hint)


@needs("asyncpg")
class Asyncpg(unittest.IsolatedAsyncioTestCase):
    async def connect(self, register=True):
        from pg_cuckoofilter.asyncpg import register_cuckoofilter

        connection = await importlib.import_module("asyncpg").connect()
        self.addAsyncCleanup(connection.close)
        if register:
            await register_cuckoofilter(connection)
        return connection

    async def test_round_trip(self):
        connection = await self.connect()
        f = await connection.fetchval(MADE)
        self.assertIn("17", f)
        self.assertEqual(await connection.fetchval("SELECT $1::cuckoofilter", f), f)
        self.assertEqual(await connection.fetchval("SELECT $1::cuckoofilter[]", [f, None]), [f, None])
        self.assertEqual(await connection.fetchval("SELECT $1::cuckoofilter", bytes(f)), f)
        self.assertEqual(await connection.fetchval("SELECT $1::cuckoofilter", str(f)), f)
        self.assertTrue(await connection.fetchval("SELECT $1::cuckoofilter @> $2", f, "17"))
        await connection.execute("CREATE TEMP TABLE copied (f cuckoofilter)")
        await connection.copy_records_to_table("copied", records=[(f,), (None,)])
        self.assertEqual([row["f"] for row in await connection.fetch("SELECT f FROM copied")], [f, None])

    async def test_schema(self):
        connection = await self.connect(register=False)
        from pg_cuckoofilter.asyncpg import register_cuckoofilter

        transaction = connection.transaction()
        await transaction.start()
        await connection.execute('CREATE SCHEMA "My"; ALTER EXTENSION cuckoo SET SCHEMA "My"; SET search_path = "My"')
        await register_cuckoofilter(connection)
        self.assertIsInstance(await connection.fetchval(MADE), CuckooFilter)
        await transaction.rollback()

    async def test_wrong(self):
        connection = await self.connect()
        DataError = importlib.import_module("asyncpg").DataError
        with self.assertRaisesRegex(DataError, "perhaps an element"):
            await connection.fetchval("SELECT $1::cuckoofilter", "https://bad.example/")
        with self.assertRaisesRegex(DataError, "a CuckooFilter, or its bytes or text, is expected here, not 17"):
            await connection.fetchval("SELECT $1::cuckoofilter", 17)
        await connection.execute("SET search_path = pg_catalog")
        from pg_cuckoofilter.asyncpg import register_cuckoofilter

        with self.assertRaisesRegex(LookupError, "CREATE EXTENSION cuckoo"):
            await register_cuckoofilter(connection)


@needs("sqlalchemy")
class SQLAlchemy(unittest.TestCase):
    """With each driver; those of asyncpg run in greenlets."""

    def each(self, test):
        sa = importlib.import_module("sqlalchemy")
        drivers = ["psycopg2", "psycopg"] if sa.__version__ >= "2" else ["psycopg2"]
        for driver in filter(installed, drivers):
            with self.subTest(driver=driver):
                engine = sa.create_engine(f"postgresql+{driver}://")
                self.in_transaction(sa, engine, test)
        if installed("asyncpg") and installed("greenlet"):
            from sqlalchemy.ext.asyncio import create_async_engine

            async def run():
                engine = create_async_engine("postgresql+asyncpg://")
                async with engine.connect() as connection:
                    await connection.run_sync(lambda sync: self.with_table(sa, sync, test))
                await engine.dispose()

            with self.subTest(driver="asyncpg"):
                asyncio.run(run())

    def in_transaction(self, sa, engine, test):
        with engine.connect() as connection:
            self.with_table(sa, connection, test)
        engine.dispose()

    def with_table(self, sa, connection, test):
        from pg_cuckoofilter.sqlalchemy import CuckooFilterType

        table = sa.Table(
            "alchemy",
            sa.MetaData(),
            sa.Column("id", sa.Integer, primary_key=True),
            sa.Column("f", CuckooFilterType),
            prefixes=["TEMPORARY"],
        )
        transaction = connection.begin()
        table.create(connection)
        made = sa.func.cf_agg(sa.cast(sa.column("i"), sa.Text), type_=CuckooFilterType)
        f = connection.execute(sa.select(made).select_from(sa.text("generate_series(1, 100) i"))).scalar()
        connection.execute(table.insert(), [{"id": 1, "f": f}, {"id": 2, "f": None}])
        test(sa, connection, table, f)
        transaction.rollback()

    def test_round_trip(self):
        def test(sa, connection, table, f):
            self.assertEqual(len(f), 100)
            connection.execute(table.insert(), [{"id": 3, "f": bytes(f)}, {"id": 4, "f": str(f)}])
            rows = connection.execute(sa.select(table.c.f).order_by(table.c.id)).scalars().all()
            self.assertEqual(rows, [f, None, f, f])
            same = sa.select(table.c.id).order_by(table.c.id).where(table.c.f == bytes(f))
            self.assertEqual(connection.execute(same).scalars().all(), [1, 3, 4])
            union = sa.select(table.c.f.op("|")(f)).where(table.c.id == 1)
            self.assertIn("17", connection.execute(union).scalar())
            made = sa.select(sa.func.cf_new(10)).where(table.c.f == f)
            self.assertIsInstance(connection.execute(made.limit(1)).scalar(), CuckooFilter)
            text = str(made.compile(connection, compile_kwargs={"literal_binds": True}))
            self.assertIn(f"CAST('{f}' AS cuckoofilter)", text)
            image = sa.select(sa.type_coerce(sa.cast(table.c.f, sa.LargeBinary), type(table.c.f.type)))
            self.assertEqual(connection.execute(image.where(table.c.id == 1)).scalar(), f)

        self.each(test)

    def test_functions(self):
        names = "SELECT proname FROM pg_proc WHERE prorettype = 'cuckoofilter'::regtype AND starts_with(proname, 'cf_')"

        def test(sa, connection, table, f):
            for name in connection.execute(sa.text(names)).scalars():
                self.assertIs(type(getattr(sa.func, name)().type), type(table.c.f.type), name)

        self.each(test)

    def test_elements(self):
        def test(sa, connection, table, f):
            def ids(condition):
                return connection.execute(sa.select(table.c.id).where(condition)).scalars().all()

            for ask in (table.c.f.contains_element, table.c.f.contains, table.c.f.op("@>"), table.c.f.bool_op("@>")):
                self.assertEqual(ids(ask("17")), [1])
                self.assertEqual(ids(ask("no")), [])
                self.assertEqual(ids(~ask("no")), [1])
                self.assertIs(connection.execute(sa.select(ask("17")).where(table.c.id == 1)).scalar(), True)
                # an expression, grouped, because || and @> bind alike
                self.assertEqual(ids(ask(sa.literal("1") + sa.literal("7"))), [1])
                condition = ask(sa.bindparam("v"))
                found = connection.execute(sa.select(table.c.id).where(condition), {"v": "17"}).scalars().all()
                self.assertEqual(found, [1])
            from sqlalchemy.dialects.postgresql import UUID

            # an int may be large, and SQLAlchemy 1.4 does not know the type of a UUID
            for element, type_ in ((2**40, "bigint"), (uuid.UUID(int=1), "uuid")):
                made = sa.text(f"SELECT cf_agg('{element}'::{type_})").columns(sa.column("f", table.c.f.type))
                connection.execute(table.update().values(f=connection.execute(made).scalar()))
                if type_ == "uuid" and sa.__version__ < "2" and connection.dialect.driver == "asyncpg":
                    element = sa.cast(element, UUID(as_uuid=True))
                self.assertEqual(sorted(ids(table.c.f.contains_element(element))), [1, 2], type_)

        self.each(test)

    def test_wrong(self):
        def test(sa, connection, table, f):
            for value, message in ((17, "is expected here, not 17"), ("https://bad.example/", "perhaps an element")):
                with self.assertRaisesRegex((sa.exc.StatementError, InvalidImage), message):
                    connection.execute(table.insert(), {"id": 3, "f": value})

        self.each(test)

    def test_reflection(self):
        from pg_cuckoofilter.sqlalchemy import CuckooFilterType

        def test(sa, connection, table, f):
            reflected = sa.Table("alchemy", sa.MetaData(), autoload_with=connection)
            self.assertIsInstance(reflected.c.f.type, CuckooFilterType)
            found = sa.select(reflected.c.id).where(reflected.c.f.contains_element("17"))
            self.assertEqual(connection.execute(found).scalars().all(), [1])

        self.each(test)


def django_app():
    """Settings, and a model with its table, which is dropped again."""
    django = importlib.import_module("django")
    from django.conf import settings
    from django.db import connection, models

    if not settings.configured:
        database = {"ENGINE": "django.db.backends.postgresql", "NAME": "postgres"}
        settings.configure(DATABASES={"default": database}, DEFAULT_AUTO_FIELD="django.db.models.BigAutoField")
        django.setup()
    return connection, models


@needs("django")
class Django(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.connection, models = django_app()
        from pg_cuckoofilter.django import CuckooFilterField, CuckooIndex

        class Filter(models.Model):
            name = models.TextField(primary_key=True)
            f = CuckooFilterField(null=True)

            class Meta:
                app_label = "tests"

        class Visit(models.Model):
            url = models.TextField()

            class Meta:
                app_label = "tests"
                indexes = [CuckooIndex(fields=["url"], fillfactor=80)]

        cls.Filter, cls.Visit = Filter, Visit

    def setUp(self):
        from django.db import transaction

        self.atomic = transaction.atomic()
        self.atomic.__enter__()
        with self.connection.schema_editor() as editor:
            editor.create_model(self.Filter)
            editor.create_model(self.Visit)
        self.f = self.made(MADE)
        self.Filter.objects.create(name="blocked", f=self.f)
        self.Filter.objects.create(name="none")

    def tearDown(self):
        from django.db import transaction

        transaction.set_rollback(True)
        self.atomic.__exit__(None, None, None)

    def made(self, query):
        with self.connection.cursor() as cursor:
            cursor.execute(query)
            return CuckooFilter(cursor.fetchone()[0])

    def names(self, queryset):
        return list(queryset.order_by("name").values_list("name", flat=True))

    def test_round_trip(self):
        objects = self.Filter.objects
        self.assertEqual(objects.get(name="blocked").f, self.f)
        self.assertIsNone(objects.get(name="none").f)
        objects.bulk_create([self.Filter(name="bytes", f=bytes(self.f)), self.Filter(name="text", f=str(self.f))])
        self.assertEqual(self.names(objects.filter(f=self.f)), ["blocked", "bytes", "text"])
        self.assertEqual(self.names(objects.filter(f__in=[self.f])), ["blocked", "bytes", "text"])
        self.assertEqual(self.names(objects.exclude(f__isnull=False)), ["none"])
        none = objects.get(name="none")
        none.f = self.made(NUMBERS)
        objects.bulk_update([none], ["f"])
        self.assertIn(17, objects.get(name="none").f)

    def test_serializers(self):
        from django.core import serializers

        text = serializers.serialize("json", self.Filter.objects.order_by("name"))
        read = [self.Filter._meta.get_field("f").to_python(row["fields"]["f"]) for row in json.loads(text)]
        self.assertEqual(read, [self.f, None])

    def test_elements(self):
        from django.db.models import Case, OuterRef, TextField, Value, When
        from django.db.models.functions import Concat

        objects = self.Filter.objects
        for ask in ("f__contains_element", "f__contains"):
            self.assertEqual(self.names(objects.filter(**{ask: "17"})), ["blocked"])
            self.assertEqual(self.names(objects.filter(**{ask: "no"})), [])
            case = Case(When(**{ask: "17"}, then=Value("yes")), default=Value("no"), output_field=TextField())
            self.assertEqual(objects.annotate(case=case).get(name="blocked").case, "yes")
            self.assertEqual(self.names(objects.filter(f__isnull=False).exclude(**{ask: "no"})), ["blocked"])
            self.assertEqual(self.names(objects.filter(**{ask: Concat(Value("1"), Value("7"))})), ["blocked"])
            self.Visit.objects.create(url="17")
            visits = self.Visit.objects.filter(url="17").values("url")[:1]
            self.assertEqual(self.names(objects.filter(**{ask: visits})), ["blocked"])
        numbers = self.made(NUMBERS)
        objects.filter(name="none").update(f=numbers)
        self.assertEqual(self.names(objects.filter(name="none", f__contains_element=17)), ["none"])
        inner = objects.filter(name=OuterRef("name"), f__contains_element=Value("17"))
        self.assertEqual(self.names(objects.filter(name="blocked", pk__in=inner)), ["blocked"])

    def test_functions(self):
        from django.db.models import Exists, F, OuterRef, Subquery, Value
        from pg_cuckoofilter.django import CfAdd, CfAgg, CfContains, CfNew, CuckooFilterField

        for i in range(95, 106):
            self.Visit.objects.create(url=str(i))
        blocked = Subquery(self.Filter.objects.filter(name="blocked").values("f"))
        found = self.Visit.objects.filter(CfContains(blocked, F("url")))
        self.assertEqual([visit.url for visit in found.order_by("id")], ["95", "96", "97", "98", "99", "100"])
        sent = CfContains(Value(self.f, CuckooFilterField()), "url")
        self.assertEqual(self.Visit.objects.annotate(found=sent).filter(found=True).count(), 6)
        self.assertEqual(self.Visit.objects.exclude(CfContains(blocked, F("url"))).count(), 5)
        joined = self.Filter.objects.filter(f__contains_element=OuterRef("url"))
        self.assertEqual(self.Visit.objects.filter(Exists(joined)).count(), 6)
        made = self.Visit.objects.aggregate(f=CfAgg("url", 0.001))["f"]
        self.assertEqual(len(made), 11)
        self.Filter.objects.create(name="new", f=made)
        new = self.Filter.objects.filter(name="new").exclude(f__contains_element="another")
        self.assertEqual([new.update(f=CfAdd("f", Value("another"))) for _ in range(2)], [1, 0])
        self.assertIn("another", self.Filter.objects.get(name="new").f)
        for family, made in (("bytea", CfNew(element="bytea")), ("integer", CfNew(1000, 0.01, element="bigint"))):
            self.Filter.objects.create(name=family, f=made)
            self.assertEqual(self.Filter.objects.get(name=family).f.family, family)

    def test_wrong(self):
        from django.core.exceptions import FieldError
        from django.db import ProgrammingError, transaction
        from pg_cuckoofilter.django import CuckooFilterField

        # not "", which the server would refuse in more words
        self.assertIsNone(CuckooFilterField().get_default())
        with self.assertRaisesRegex(ProgrammingError, "does not contain elements of type integer"):
            with transaction.atomic():
                self.Filter.objects.filter(f__contains=17).exists()
        with self.assertRaisesRegex(InvalidImage, "perhaps an element"):
            self.Filter.objects.filter(f="https://bad.example/").exists()
        with self.assertRaisesRegex(TypeError, "is expected here, not 17"):
            self.Filter(name="17", f=17).save()
        for lookup in ("icontains", "startswith", "gt", "regex", "contained_by"):
            with self.assertRaisesRegex(FieldError, f"Unsupported lookup '{lookup}' for CuckooFilterField"):
                self.Filter.objects.filter(**{f"f__{lookup}": "17"})

    def test_migration(self):
        from django.db.migrations.writer import MigrationWriter
        from pg_cuckoofilter.django import CuckooFilterField, CuckooIndex

        text, imports = MigrationWriter.serialize(CuckooFilterField(null=True))
        self.assertIn("import pg_cuckoofilter.django", imports)
        self.assertEqual(text, "pg_cuckoofilter.django.CuckooFilterField(editable=False, null=True)")
        text, imports = MigrationWriter.serialize(CuckooIndex(fields=["url"], name="seen", fillfactor=80))
        self.assertEqual(text, "pg_cuckoofilter.django.CuckooIndex(fields=['url'], fillfactor=80, name='seen')")

    def test_index(self):
        (index,) = self.Visit._meta.indexes
        self.Visit.objects.create(url="17")
        with self.connection.cursor() as cursor:
            cursor.execute("SELECT pg_get_indexdef(%s::regclass), cf_index_check(%s)", [index.name] * 2)
            definition, found = cursor.fetchone()
        self.assertRegex(definition, r"USING cuckoo \(url\) WITH \(fillfactor='80'\)")
        self.assertEqual(found, 1)


if __name__ == "__main__":
    unittest.main()
