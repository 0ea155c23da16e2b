"""Every sentence of the window is in every catalogue of languages/, with the values that it has in
English, and no panel draws words past tr().

usage: catalogues_test.py REPOSITORY
"""

import importlib.machinery
import importlib.util
import sys
import tempfile
import unittest
from pathlib import Path

REPOSITORY = Path(sys.argv.pop(1))
loader = importlib.machinery.SourceFileLoader("update", str(REPOSITORY / "languages/update"))
update = importlib.util.module_from_spec(importlib.util.spec_from_loader("update", loader))
sys.dont_write_bytecode = True
loader.exec_module(update)


class Catalogues(unittest.TestCase):
    def faults_of(self, wanted, text):
        with tempfile.NamedTemporaryFile("w", suffix=".po", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            return [fault.split(": ", 1)[1] for fault in update.faults(wanted, Path(file.name))]

    def test_they_are_complete(self):
        wanted = update.sentences()
        self.assertGreater(len(wanted), 1000)
        for known in ("Shared memory", "{} of {} passed", "Plummer sphere", "fit the picture", "epoch"):
            self.assertIn(known, wanted)
        for path in (REPOSITORY / "languages").glob("*.po"):
            self.assertEqual(list(update.faults(wanted, path)), [])

    def test_they_hold_what_was_written(self):
        for path in (REPOSITORY / "languages").glob("*.po"):
            with tempfile.TemporaryDirectory() as folder:
                copy = Path(folder) / path.name
                update.write(copy, update.sentences(), update.read(path))
                self.assertEqual(copy.read_text(encoding="utf-8"), path.read_text(encoding="utf-8"),
                                 "languages/update has not been run")

    def test_no_panel_draws_words_past_them(self):
        self.assertEqual(list(update.bare_literals()), [])

    def test_faults_are_found(self):
        wanted = {"Warps": "", "{} of {:.0f}": ""}
        self.assertEqual(self.faults_of(wanted, 'msgid "Warps"\nmsgstr "Варпы"\n'),
                         ["not translated: {} of {:.0f}"])
        swapped = 'msgid "Warps"\nmsgstr "W"\nmsgid "{} of {:.0f}"\nmsgstr "{1:.0f} / {0}"\n'
        self.assertEqual(self.faults_of(wanted, swapped), [])
        self.assertEqual(self.faults_of(wanted, swapped.replace("{1:.0f}", "{1}")),
                         ["other placeholders than in: {} of {:.0f}"])
        self.assertEqual(self.faults_of(wanted, swapped.replace("{0}", "{}")),
                         ["other placeholders than in: {} of {:.0f}"], "{fmt} does not mix {} and {1}")
        self.assertEqual(self.faults_of(wanted, swapped + 'msgid "gone"\nmsgstr "x"\n'),
                         ["no sentence of the window: gone"])

    def test_the_argument_that_is_drawn_is_known(self):
        source = 'text(ui.fonts.small, f(1, 2), "Words"); record(ui, "id");'
        self.assertEqual(update.call_around(source, source.index('"Words"')), ("text", 2))
        self.assertEqual(update.call_around(source, source.index('"id"')), ("record", 1))


if __name__ == "__main__":
    unittest.main()
