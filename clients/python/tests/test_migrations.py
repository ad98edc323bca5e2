"""Migrations, and duplicates in tables with an index or a constraint USING cuckoo.

What is not installed is skipped.
"""

import importlib
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import psycopg
from test_adapters import needs

DATABASE = "migrations"


def new_database(test):
    """One without the extension, for one test."""
    with psycopg.connect(autocommit=True) as connection:
        connection.execute(f"DROP DATABASE IF EXISTS {DATABASE}")
        connection.execute(f"CREATE DATABASE {DATABASE} TEMPLATE template0")
    test.addCleanup(drop_database)


def drop_database():
    with psycopg.connect(autocommit=True) as connection:
        connection.execute(f"DROP DATABASE {DATABASE}")


def query(sql):
    with psycopg.connect(dbname=DATABASE, autocommit=True) as connection:
        return connection.execute(sql).fetchall()


def unique_indexes():
    return query("SELECT current_setting('server_version_num')::int >= 180000")[0][0]


SETTINGS = f"""
SECRET_KEY = "secret"
INSTALLED_APPS = ["django.contrib.postgres", "shop"]
DATABASES = {{"default": {{"ENGINE": "django.db.backends.postgresql", "NAME": "{DATABASE}"}}}}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
USE_TZ = True
"""

EXTENSION = """
from django.contrib.postgres.operations import CreateExtension
from django.db import migrations

class Migration(migrations.Migration):
    operations = [CreateExtension("cuckoo")]
"""

MODELS = """
from django.db import models
from django.db.models import F, Q
from pg_cuckoofilter.django import CuckooExclusionConstraint, CuckooIndex

class Visit(models.Model):
    url = models.TextField(null=True)
    host = models.TextField(default="h")
    n = models.IntegerField(default=0)

    class Meta:
        indexes = [CuckooIndex(fields=["host"], name="visit_host"), {index}]
        constraints = [{constraints}]
"""

CONSTRAINTS = """
    CuckooExclusionConstraint(name="visit_url", expressions=[("url", "=")]),
    CuckooExclusionConstraint(
        name="visit_two", expressions=[("host", "="), (F("n"), "=")], condition=Q(n__gt=0)
    ),
"""

DUPLICATES = """
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction
from django.db.models.constraints import BaseConstraint
from shop.models import Visit

def refused(constraint, **values):
    try:
        with transaction.atomic():
            Visit.objects.create(**values)
    except IntegrityError as error:
        assert constraint in str(error), error
        cause = error.__cause__
        assert (getattr(cause, "sqlstate", None) or cause.pgcode) == "23P01"
    else:
        raise AssertionError("inserted twice")

long = "https://site.example/" + "x" * 5000
Visit.objects.create(url=long)
refused("visit_url", url=long)
Visit.objects.create(url=None)
Visit.objects.create(url=None)
Visit.objects.create(url="a", n=1)
Visit.objects.create(url="b", n=2)
refused("visit_two", url="c", n=1)
assert not Visit.objects.get_or_create(url="a")[1]

before = Visit.objects.count()
Visit.objects.bulk_create([Visit(url=url) for url in (long, "a", "d", "d", "e")], ignore_conflicts=True)
assert Visit.objects.count() == before + 2

# since Django 4.1
if hasattr(BaseConstraint, "validate"):
    Visit(url="f").full_clean()
    Visit.objects.get(url="a").full_clean()
    Visit(n=1, url="g", host="other").full_clean()
    for values in ({"url": long}, {"url": "g", "n": 1}):
        try:
            Visit(**values).full_clean()
        except ValidationError as error:
            assert "is violated" in str(error), error
        else:
            raise AssertionError("valid twice")
"""

UPSERT = """
import django
from django.db import IntegrityError, transaction
from shop.models import Visit

Visit.objects.create(url="u", n=1)
try:
    with transaction.atomic():
        Visit.objects.create(url="u", n=2)
    raise AssertionError("inserted twice")
except IntegrityError as error:
    assert "visit_unique" in str(error), error
Visit.objects.bulk_create([Visit(url="u", n=3)], ignore_conflicts=True)
assert Visit.objects.get(url="u").n == 1
if django.VERSION >= (4, 1):
    new = [Visit(url="u", n=4), Visit(url="v", n=5)]
    Visit.objects.bulk_create(new, update_conflicts=True, unique_fields=["url"], update_fields=["n"])
    assert sorted(Visit.objects.filter(n__gt=3).values_list("url", "n")) == [("u", 4), ("v", 5)]
"""


@needs("django")
class Django(unittest.TestCase):
    """A project, whose commands run as a user runs them."""

    def setUp(self):
        new_database(self)
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.project = Path(folder.name)
        self.migrations = self.project / "shop" / "migrations"
        self.migrations.mkdir(parents=True)
        for package in (self.migrations.parent, self.migrations):
            (package / "__init__.py").touch()
        (self.project / "settings.py").write_text(SETTINGS)
        (self.migrations / "0001_extension.py").write_text(EXTENSION)

    def models(self, index="", constraints=""):
        (self.project / "shop" / "models.py").write_text(MODELS.format(index=index, constraints=constraints))

    def django(self, *arguments):
        path = os.pathsep.join([str(self.project), *filter(None, sys.path)])
        environment = {**os.environ, "DJANGO_SETTINGS_MODULE": "settings", "PYTHONPATH": path}
        environment["PYTHONDONTWRITEBYTECODE"] = "1"  # a file that is written twice in a second
        command = [sys.executable, "-m", "django", *arguments]
        ended = subprocess.run(command, env=environment, cwd=self.project, capture_output=True, text=True)
        self.assertEqual(ended.returncode, 0, f"{arguments}\n{ended.stdout}{ended.stderr}")
        return ended.stdout

    def make(self, name):
        self.django("makemigrations", "shop", "-n", name)
        self.django("makemigrations", "--check", "--dry-run")
        (file,) = self.migrations.glob(f"*_{name}.py")
        return file.read_text(), self.django("sqlmigrate", "shop", file.stem)

    def indexes(self):
        return {name for (name,) in query("SELECT relname FROM pg_class WHERE relname LIKE 'visit%' AND relkind = 'i'")}

    def test_constraint(self):
        self.models()
        text, sql = self.make("table")
        self.assertIn("pg_cuckoofilter.django.CuckooIndex(fields=['host'], name='visit_host')", text)
        self.assertIn('USING cuckoo ("host")', sql)
        self.models(constraints=CONSTRAINTS)
        text, sql = self.make("constraints")
        self.assertEqual(text.count("migrations.AddConstraint("), 2)
        self.assertEqual(text.count("pg_cuckoofilter.django.CuckooExclusionConstraint("), 2)
        self.assertIn('ADD CONSTRAINT "visit_url" EXCLUDE USING cuckoo ("url" WITH =);', sql)
        self.assertRegex(sql, r'EXCLUDE USING cuckoo \("host" WITH =, "n" WITH =\) WHERE \("n" > 0\)')

        self.django("migrate")
        self.assertEqual(self.indexes(), {"visit_host", "visit_url", "visit_two"})
        self.django("shell", "-c", DUPLICATES)
        query("SELECT cf_index_check('visit_url')")

        self.django("migrate", "shop", "0002")
        self.assertEqual(self.indexes(), {"visit_host"})
        self.django("migrate", "shop", "zero")
        self.assertEqual(query("SELECT to_regclass('shop_visit')"), [(None,)])
        self.assertEqual(query("SELECT FROM pg_extension WHERE extname = 'cuckoo'"), [])

    def test_unique(self):
        self.models(index='CuckooIndex(fields=["url"], name="visit_unique", unique=True)')
        text, sql = self.make("unique")
        self.assertRegex(text, r"CuckooIndex\(fields=\['url'\], name='visit_unique', unique=True\)")
        self.assertIn('CREATE UNIQUE INDEX "visit_unique" ON "shop_visit" USING cuckoo ("url")', sql)
        self.assertIn('CREATE INDEX "visit_host" ON "shop_visit" USING cuckoo ("host")', sql)
        if unique_indexes():
            self.django("migrate")
            self.django("shell", "-c", UPSERT)
        else:
            with self.assertRaisesRegex(AssertionError, "UNIQUE|unique"):
                self.django("migrate")
        self.django("migrate", "shop", "zero")


@needs("sqlalchemy", "psycopg2")
class SQLAlchemy(unittest.TestCase):
    def setUp(self):
        new_database(self)
        sa = self.sa = importlib.import_module("sqlalchemy")
        from sqlalchemy.dialects.postgresql import ExcludeConstraint

        engine = sa.create_engine(f"postgresql+psycopg2:///{DATABASE}")
        self.addCleanup(engine.dispose)
        self.connection = engine.connect()
        self.addCleanup(self.connection.close)
        transaction = self.connection.begin()
        self.addCleanup(transaction.rollback)
        self.connection.execute(sa.text("CREATE EXTENSION cuckoo"))
        self.metadata = sa.MetaData()
        self.table = sa.Table(
            "visits",
            self.metadata,
            sa.Column("id", sa.Integer, primary_key=True),
            sa.Column("url", sa.Text),
            sa.Column("host", sa.Text),
            ExcludeConstraint(("url", "="), using="cuckoo", name="visits_url"),
            sa.Index("visits_host", "host", postgresql_using="cuckoo", postgresql_with={"fillfactor": 80}),
        )

    def create(self):
        self.metadata.create_all(self.connection)

    def insert(self, **values):
        from sqlalchemy.dialects.postgresql import insert

        return insert(self.table).values(**values)

    def rows(self, statement):
        """Of the savepoint, which a failure would end."""
        with self.connection.begin_nested():
            return self.connection.execute(statement).rowcount

    def test_duplicates(self):
        self.create()
        long = "https://site.example/" + "x" * 5000
        self.rows(self.insert(url=long))
        with self.assertRaisesRegex(self.sa.exc.IntegrityError, 'exclusion constraint "visits_url"'):
            self.rows(self.insert(url=long))
        new = self.insert(url="new")
        self.assertEqual([self.rows(new.on_conflict_do_nothing()) for _ in range(2)], [1, 0])
        same = self.insert(url=long)
        self.assertEqual(self.rows(same.on_conflict_do_nothing(constraint="visits_url")), 0)
        (constraint,) = (c for c in self.table.constraints if c.name == "visits_url")
        self.assertEqual(self.rows(same.on_conflict_do_nothing(constraint=constraint)), 0)
        # what needs a unique index
        with self.assertRaisesRegex(self.sa.exc.ProgrammingError, "no unique or exclusion constraint matching"):
            self.rows(same.on_conflict_do_nothing(index_elements=["url"]))
        with self.assertRaisesRegex(self.sa.exc.ProgrammingError, "exclusion constraints"):
            self.rows(same.on_conflict_do_update(constraint="visits_url", set_={"host": "h"}))

    def test_unique(self):
        sa = self.sa
        sa.Index("visits_both", self.table.c.host, self.table.c.url, unique=True, postgresql_using="cuckoo")
        if not unique_indexes():
            with self.assertRaisesRegex(sa.exc.DBAPIError, "unique"), self.connection.begin_nested():
                self.create()
            return
        self.create()
        new = self.insert(url="u", host="h")
        self.assertEqual(self.rows(new), 1)
        self.assertEqual(self.rows(new.on_conflict_do_nothing(index_elements=["host", "url"])), 0)
        self.connection.execute(sa.text("ALTER TABLE visits DROP CONSTRAINT visits_url"))
        update = new.on_conflict_do_update(index_elements=["host", "url"], set_={"id": 17})
        self.assertEqual(self.rows(update), 1)
        self.assertEqual(self.connection.execute(sa.select(self.table.c.id)).scalars().all(), [17])

    def test_reflection(self):
        self.create()
        indexes = {index["name"]: index for index in self.sa.inspect(self.connection).get_indexes("visits")}
        options = indexes["visits_host"]["dialect_options"]
        self.assertEqual(options["postgresql_using"], "cuckoo")
        self.assertEqual(options["postgresql_with"], {"fillfactor": "80"})
        # so alembic and the reflection of tables leave it out
        self.assertEqual(indexes["visits_url"]["duplicates_constraint"], "visits_url")
        reflected = self.sa.Table("visits", self.sa.MetaData(), autoload_with=self.connection)
        self.assertEqual([index.name for index in reflected.indexes], ["visits_host"])

    @needs("alembic")
    def test_alembic(self):
        from alembic.autogenerate import compare_metadata, produce_migrations, render_python_code
        from alembic.migration import MigrationContext

        context = MigrationContext.configure(self.connection)
        code = render_python_code(produce_migrations(context, self.metadata).upgrade_ops)
        self.assertIn("postgresql.ExcludeConstraint((sa.column('url'), '='), using='cuckoo', name='visits_url')", code)
        self.assertRegex(code, r"create_index\('visits_host', .*, postgresql_using='cuckoo'")
        self.create()
        self.assertEqual(compare_metadata(context, self.metadata), [])
        # it misses an index, but compares no exclusion constraints
        self.connection.execute(self.sa.text("DROP INDEX visits_host; ALTER TABLE visits DROP CONSTRAINT visits_url"))
        ((change, index),) = compare_metadata(context, self.metadata)
        self.assertEqual((change, index.name), ("add_index", "visits_host"))


if __name__ == "__main__":
    unittest.main()
