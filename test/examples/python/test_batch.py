"""Tests the nodes of the batch example with the words that PyMuPDF reads in the seven real invoices."""

import json
import sys
import types
import unittest
from email.message import EmailMessage
from unittest import mock

import paths

BATCH = paths.EXAMPLES / "batch"


def run(node, context):
    source = (BATCH / "nodes" / f"{node}.py").read_text()
    with mock.patch.object(sys, "path", [str(BATCH / "lib"), *sys.path]):
        exec(compile(source, f"nodes/{node}.py", "exec"), {"context": context})
    return context


def pymupdf_reading(words):
    """Replaces PyMuPDF by a module that returns these words: [page, x0, y0, x1, y1, text]."""

    class Document(list):
        page_count = 1 + max((word[0] for word in words), default=0)

    def page(number):
        drawn = reversed([tuple(word[1:]) for word in words if word[0] == number])
        return types.SimpleNamespace(get_text=lambda what: list(drawn))

    def open_stream(stream, filetype):
        if stream == b"broken":
            raise RuntimeError("no objects found")
        return Document(page(number) for number in range(Document.page_count))

    return types.SimpleNamespace(open=open_stream)


def read_pdf(words, pdf=b"%PDF"):
    context = {"item": {"name": "may.pdf", "pdf": pdf}}
    with mock.patch.dict(sys.modules, {"pymupdf": pymupdf_reading(words)}):
        return run("find_total", run("extract_text", context))


class ReadsTheInvoicesOfAMail(unittest.TestCase):
    def test_by_the_words_of_their_totals(self):
        fixtures = sorted(paths.FIXTURES.glob("*.words.json"))
        self.assertEqual(len(fixtures), 7)
        for fixture in fixtures:
            with self.subTest(fixture.name):
                expected = json.loads(fixture.read_text())
                found = read_pdf(expected["words"])
                self.assertEqual((found["amount"], found["currency"]), (expected["amount"], expected["currency"]))
                self.assertNotIn("text", found)

    def test_and_says_what_is_wrong_with_one(self):
        for words, pdf, sentence in [
            ([], b"%PDF", "no text"),
            ([[0, 0, 0, 9, 9, "Hello"]], b"%PDF", "no line begins with a word such as amount due"),
            ([], b"broken", "may.pdf is not a PDF that can be opened: no objects found"),
        ]:
            with self.subTest(sentence), self.assertRaisesRegex(ValueError, sentence):
                read_pdf(words, pdf)

    def test_out_of_its_attachments(self):
        mail = EmailMessage()
        mail["From"] = "Ann <ann@example.com>"
        mail.set_content("see attachments")
        for name in ("may.pdf", "logo.gif", "JUNE.PDF"):
            mail.add_attachment(name.encode(), maintype="application", subtype="octet-stream", filename=name)
        context = run("read_mail", {"mail": mail.as_bytes()})
        self.assertEqual(context["email_from"], "ann@example.com")
        attachments = [{"name": name, "pdf": name.encode()} for name in ("may.pdf", "JUNE.PDF")]
        self.assertEqual(context["attachments"], attachments)

    def test_and_sums_them_up_by_currency(self):
        read = [{"name": n, "amount": a, "currency": c, "branch": b} for n, a, c, b in [
            ("a", 0.1, "EUR", "low"), ("b", 0.2, "EUR", "low"), ("c", 2000, "", "high"),
        ]]  # fmt: skip
        broken = {"error": {"message": "locked"}}
        attachments = [{"name": name} for name in "abcd"]
        context = {"email_from": "ann@example.com", "attachments": attachments, "results": [*read, broken]}
        sums = {"EUR": 0.3, "unknown": 2000.0}
        unreadable = [{"name": "d", "why": "locked"}]
        expected = {"from": "ann@example.com", "invoices": 3, "sums": sums, "high": ["c"], "unreadable": unreadable}
        self.assertEqual(run("summary", context)["summary"], expected)
