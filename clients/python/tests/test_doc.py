"""The blocks of Python in the README, in order, against a live server."""

import contextlib
import importlib.util
import io
import re
import sys
import tempfile
import types
import unittest
from pathlib import Path

import psycopg

README = Path(__file__).parents[1] / "README.md"
ADAPTERS = "asyncpg", "django", "psycopg", "psycopg2", "sqlalchemy"


def set_up(text):
    """The first block of SQL, on tables that are not there."""
    setup = re.search(r"^```sql\n(.*?)^```", text, re.MULTILINE | re.DOTALL).group(1)
    with psycopg.connect(autocommit=True) as connection:
        connection.execute("DROP TABLE IF EXISTS filters, readers, pages, shop_filter, shop_visit, shop_page")
        connection.execute(setup.replace("CREATE EXTENSION cuckoo;\n", ""))


def django_app(names):
    """Makes what is executed the models of an app, as manage.py would."""
    import django
    from django.apps import apps
    from django.conf import settings
    from django.db import connection

    module = sys.modules["shop"] = types.ModuleType("shop")
    module.__path__ = [tempfile.gettempdir()]
    names["__name__"] = "shop.models"
    if not settings.configured:
        database = {"ENGINE": "django.db.backends.postgresql", "NAME": "postgres"}
        settings.configure(DATABASES={"default": database}, DEFAULT_AUTO_FIELD="django.db.models.BigAutoField")
        django.setup()
    apps.set_installed_apps(["shop"])

    def migrate():
        tables = connection.introspection.table_names()
        for model in apps.get_app_config("shop").get_models():
            if model._meta.db_table not in tables:
                with connection.schema_editor() as editor:
                    editor.create_model(model)

    return migrate


class Doc(unittest.TestCase):
    def run_blocks(self, path, text, names, after=None):
        """Those of the text, with the lines that they have in the file."""
        whole = path.read_text(encoding="utf-8")
        for block in re.finditer(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL):
            line = whole.count("\n", 0, whole.index(block.group())) + 1
            with self.subTest(line=line), contextlib.redirect_stdout(io.StringIO()) as output:
                exec(compile("\n" * line + block.group(1), str(path), "exec"), names)
                if after:
                    after()
            # a comment after print() says what it prints
            for expected in re.findall(r"print\(error\)  # (.*)", block.group(1)):
                self.assertIn(expected, output.getvalue())

    def test_readme(self):
        """Each section, unless its library is not installed."""
        text = README.read_text(encoding="utf-8")
        sections = [section for section in text.split("\n## ") if "\n```python\n" in section]
        self.assertEqual(len(sections), 2 + len(ADAPTERS))
        for section in sections:
            title = section.partition("\n")[0]
            imported = re.findall(r"^(?:import|from) (\w+)", section, re.MULTILINE)
            wanted = {*ADAPTERS, "numpy"}.intersection(imported)
            with self.subTest(section=title):
                missing = [name for name in wanted if not importlib.util.find_spec(name)]
                if missing:
                    self.skipTest(f"{title}: {missing} not installed")
                set_up(text)
                names = {}
                self.run_blocks(README, section, names, django_app(names) if "django" in wanted else None)
                with contextlib.suppress(KeyError):
                    names["connection"].close()


if __name__ == "__main__":
    unittest.main()
