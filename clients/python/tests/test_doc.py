"""The blocks of Python in doc/clients.md, in order, against a live server."""

import contextlib
import io
import os
import re
import unittest
from pathlib import Path

import psycopg

DOC = Path(os.environ.get("DOC", Path(__file__).parents[3] / "doc/clients.md"))


class Doc(unittest.TestCase):
    def test_blocks(self):
        text = DOC.read_text(encoding="utf-8")
        setup = re.search(r"^```sql\n(.*?)^```", text, re.MULTILINE | re.DOTALL).group(1)
        with psycopg.connect(autocommit=True) as connection:
            connection.execute("DROP TABLE IF EXISTS filters")
            connection.execute(setup)
        blocks = list(re.finditer(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL))
        self.assertGreater(len(blocks), 4)
        names = {}
        for block in blocks:
            line = text.count("\n", 0, block.start()) + 1
            with self.subTest(line=line), contextlib.redirect_stdout(io.StringIO()) as output:
                exec(compile("\n" * line + block.group(1), str(DOC), "exec"), names)
            # a comment after print() says what it prints
            for expected in re.findall(r"print\(error\)  # (.*)", block.group(1)):
                self.assertIn(expected, output.getvalue())
        names["connection"].close()


if __name__ == "__main__":
    unittest.main()
