"""Checks the pages: links and pictures of every page exist, and the book is what it says.

usage: book_test.py REPOSITORY
"""
import re
import sys
import unittest
from pathlib import Path

ROOT = Path(sys.argv.pop(1)) if len(sys.argv) > 1 else Path.cwd()
BOOK = ROOT / "docs/book"
LINK = re.compile(r"\]\(([^()\s]+)\)")


def anchors(text):
    """The anchors of a page's headings, as GitHub makes them."""
    headings = re.findall(r"^#+ (.*)$", re.sub(r"^```.*?^```", "", text, flags=re.M | re.S), re.M)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def pages():
    return [*ROOT.glob("*.md"), *(path for folder in ("docs", "app", "lessons") for path in (ROOT / folder).rglob("*.md"))]


class Pages(unittest.TestCase):
    def test_every_link_leads_somewhere(self):
        count = 0
        for page in pages():
            text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.M | re.S)
            for link in LINK.findall(text):
                if ":" in link:
                    continue
                file, _, anchor = link.partition("#")
                target = (page.parent / file).resolve() if file else page
                with self.subTest(page=page.relative_to(ROOT), link=link):
                    self.assertTrue(target.exists())
                    if anchor:
                        self.assertIn(anchor, anchors(target.read_text(encoding="utf-8")))
                count += 1
        self.assertGreater(count, 200)


class Book(unittest.TestCase):
    def setUp(self):
        self.names = sorted(path.name for path in BOOK.glob("[0-9]*.md"))

    def test_has_ten_short_pages_in_a_row(self):
        self.assertEqual([name[:2] for name in self.names], [f"{n:02}" for n in range(1, 11)])
        for before, name, after in zip(["README.md", *self.names], self.names, [*self.names[1:], "README.md"]):
            text = (BOOK / name).read_text(encoding="utf-8")
            with self.subTest(name):
                self.assertTrue(250 <= len(text.split()) <= 500, len(text.split()))
                self.assertEqual(len(re.findall(r"^\d\. ", text.split("## Try it")[1], re.M)), 3)
                self.assertEqual(LINK.findall(text.split("\n---\n")[1]), [before, "README.md", after])
                self.assertRegex(text, r"\nMore: \[")
        contents = (BOOK / "README.md").read_text(encoding="utf-8")
        self.assertEqual([link for link in LINK.findall(contents) if link[0].isdigit()], self.names)

    def test_each_page_has_a_picture_of_its_own(self):
        named = [re.findall(r"!\[[^\]]+\]\(pictures/(.*?)\)", (BOOK / name).read_text(encoding="utf-8"))
                 for name in self.names]
        files = sorted(path.name for path in (BOOK / "pictures").iterdir())
        self.assertEqual(sorted(sum(named, [])), files)
        self.assertEqual([len(one) for one in named], [1] * 10)
        self.assertLess(sum((BOOK / "pictures" / name).stat().st_size for name in files), 1500000)


if __name__ == "__main__":
    unittest.main()
