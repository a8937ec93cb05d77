"""Runs the nodes as the sandbox does: one dict goes from node to node, and a mail server receives what they send."""

import json
import os
import smtplib
import sys
import types
import unittest
from email.message import EmailMessage
from unittest import mock

import paths

PDF = b"%PDF-1.7\nbody"
BROKEN = b"%PDF-1.7\nbroken"


def eml(pdf=None):
    mail = EmailMessage()
    mail["From"], mail["Subject"], mail["Message-ID"] = "Ann <ann@example.com>", "May invoice", "<ann-1@example.com>"
    mail.set_content("hello")
    if pdf:
        mail.add_attachment(pdf, maintype="application", subtype="pdf", filename="may.pdf")
    return mail.as_bytes()


def pymupdf_reading(text):
    """Replaces PyMuPDF by a module whose documents have this text. A broken document cannot be opened, and a locked
    document needs a password."""

    class Page:
        set_rotation = lambda self, degrees: None  # noqa: E731

        def get_text(self, what, flags=0):
            if what == "dict":
                return {"blocks": [{"lines": [{"dir": (1.0, 0.0), "spans": [{"text": text}]}]}]}
            assert what == "words"
            return [
                (10 * n, 10 * row, 10 * n + 9, 10 * row + 9, w)
                for row, line in enumerate(text.splitlines())
                for n, w in enumerate(line.split())
            ]

    class Document(list):
        needs_pass, page_count = text == "locked", 1
        __enter__ = lambda self: self  # noqa: E731
        __exit__ = lambda self, *_: None  # noqa: E731

    def open_stream(stream=None, filetype=None):
        if stream == BROKEN:
            raise RuntimeError("no objects found")
        return Document([Page()])

    return types.SimpleNamespace(open=open_stream, TEXTFLAGS_WORDS=0)


class Postgres:
    """Replaces psycopg. Stores a row once, even if it is inserted twice under one id."""

    class Error(Exception):
        pass

    def __init__(self):
        self.rows, self.asked, self.refuses = {}, [], None

    def connect(self, **how):
        self.asked.append(how)
        return mock.MagicMock(__enter__=lambda _: self)

    def execute(self, statement, row):
        assert "ON CONFLICT (id) DO NOTHING" in statement
        if self.refuses:
            raise Postgres.Error(self.refuses)
        self.rows.setdefault(row["id"], row)


DATABASE = {"db_host": "127.0.0.1", "db_port": 5432, "db_name": "books", "db_user": "ann", "db_password": "tango-7"}


class RunsNodes(unittest.TestCase):
    def setUp(self):
        self.postgres = Postgres()
        mock.patch.dict(sys.modules, {"psycopg": self.postgres}).start()
        self.sent = []
        server = mock.MagicMock()
        server.__enter__.return_value.send_message.side_effect = self.sent.append
        self.smtp = mock.patch.object(smtplib, "SMTP", return_value=server).start()
        run = {"NOVA_IDEMPOTENCY_KEY": "exec_1//7#1", "NOVA_RESTART_KEY": "exec_1+7", "NOVA_EXECUTION_ID": "exec_1"}
        mock.patch.dict(os.environ, run).start()
        self.addCleanup(mock.patch.stopall)

    def run_nodes(self, mail, *path, text="", **more):
        context = {"smtp_host": "127.0.0.1", "smtp_port": 2525, **({} if mail is None else {"mail": mail}), **more}
        with mock.patch.dict(sys.modules, {"pymupdf": pymupdf_reading(text)}):
            sys.modules.pop("pdf", None)
            for node in path:
                sys.modules.pop("books", None)
                source = (paths.INVOICE / "nodes" / f"{node}.py").read_text()
                exec(compile(source, f"nodes/{node}.py", "exec"), {"context": context, "json": json})
        return context

    def test_from_a_mail_to_a_high_notice_and_its_record(self):
        path = ["read_mail", "has_pdf", "extract_text", "find_total", "over_1000", "notify_high", "record"]
        context = self.run_nodes(eml(PDF), *path, text="Total 1.000,01 EUR")
        self.assertIs(context["branch_decision"], True)
        self.assertEqual((context["total_amount"], context["currency"], context["pdf_pages"]), (1000.01, "EUR", 1))
        self.assertEqual(context["record"]["branch"], "high")
        self.assertEqual(context["record"]["notice"]["subject"], "Approval needed: 1,000.01 EUR for may.pdf")
        self.assertEqual([mail["To"] for mail in self.sent], ["approvals@example.com"])

    def test_a_thousand_is_not_over_a_thousand(self):
        path = ["read_mail", "extract_text", "find_total", "over_1000", "notify_low", "record"]
        context = self.run_nodes(eml(PDF), *path, text="Total $1,000.00")
        self.assertIs(context["branch_decision"], False)
        self.assertEqual((context["record"]["amount"], context["record"]["branch"]), (1000.0, "low"))
        self.assertEqual([mail["To"] for mail in self.sent], ["accounting@example.com"])

    def test_a_mail_without_pdf_is_answered_and_recorded(self):
        context = self.run_nodes(eml(), "read_mail", "has_pdf", "send_rejection", "record")
        self.assertIs(context["branch_decision"], False)
        record = [context["record"][name] for name in ("file", "amount", "branch", "sender")]
        self.assertEqual(record, [None, None, "rejected", "ann@example.com"])
        self.assertEqual((self.sent[0]["To"], self.sent[0]["Subject"]), ("ann@example.com", "Re: May invoice"))
        headers = [self.sent[0][name] for name in ("In-Reply-To", "Auto-Submitted")]
        self.assertEqual(headers, ["<ann-1@example.com>", "auto-replied"])

    def test_a_mail_that_its_trigger_has_read_goes_the_same_way(self):
        attachments = [{"name": "may.pdf", "type": "application/pdf", "bytes": PDF}]
        email = {"from": "ann@example.com", "subject": "May", "message_id": "<1@x>", "attachments": attachments}
        path = ["read_mail", "extract_text", "find_total", "notify_low", "record"]
        context = self.run_nodes(None, *path, text="Total 5.00 EUR", email=email)
        self.assertEqual((context["record"]["file"], context["record"]["amount"]), ("may.pdf", 5.0))
        self.assertNotIn("booked_as", context)

    def test_every_way_is_booked_where_the_client_has_a_database_and_once(self):
        ways = [("notify_high", PDF, "Total 1.001,00 EUR"), ("notify_low", PDF, "Total 5.00 EUR")]
        for number, (notify, pdf, text) in enumerate([*ways, ("send_rejection", None, "")]):
            reading = ["read_mail", *(["extract_text", "find_total"] if pdf else []), notify]
            with mock.patch.dict(os.environ, {"NOVA_RESTART_KEY": f"exec_1+{number}"}):
                context = self.run_nodes(eml(pdf), *reading, "record", "record", text=text, **DATABASE)
            self.assertEqual(context["booked_as"], f"exec_1+{number}")
        rows = [(row["file"], row["amount"], row["branch"]) for row in self.postgres.rows.values()]
        self.assertEqual(rows, [("may.pdf", 1001.0, "high"), ("may.pdf", 5.0, "low"), (None, None, "rejected")])
        self.assertEqual({row["execution_id"] for row in self.postgres.rows.values()}, {"exec_1"})
        self.assertEqual(self.postgres.asked[0]["dbname"], "books")
        self.assertEqual(self.postgres.asked[0]["sslmode"], "prefer")

    def test_a_database_that_refuses_is_named_without_its_password(self):
        self.postgres.refuses = "relation invoices does not exist"
        with self.assertRaisesRegex(RuntimeError, "books at 127.0.0.1 did not take the invoice: relation") as raised:
            self.run_nodes(eml(), "read_mail", "send_rejection", "record", **DATABASE)
        self.assertNotIn("tango-7", str(raised.exception))

    def test_what_they_leave_in_the_context_is_json_and_bytes(self):
        path = ["read_mail", "extract_text", "find_total", "notify_low", "record"]
        context = self.run_nodes(eml(PDF), *path, text="Total 5.00 EUR")
        self.assertEqual(context.pop("mail") and context.pop("pdf"), PDF)
        self.assertEqual(json.loads(json.dumps(context, allow_nan=False)), context)

    def test_a_notice_sent_again_by_the_same_run_has_the_same_id(self):
        for _ in range(2):
            self.run_nodes(eml(), "read_mail", "send_rejection")
        with mock.patch.dict(os.environ, {"NOVA_IDEMPOTENCY_KEY": "exec_2//7#1"}):
            self.run_nodes(eml(), "read_mail", "send_rejection")
        first, again, other = [mail["Message-ID"] for mail in self.sent]
        self.assertEqual(first, again)
        self.assertNotEqual(first, other)
        self.assertRegex(first, r"^<[0-9a-f]{32}@example\.com>$")

    def test_a_subject_cannot_smuggle_in_headers(self):
        raw = b"From: a@example.com\r\nSubject: =?utf-8?q?x=0D=0ABcc:_b@example.com?=\r\n\r\n"
        self.run_nodes(raw, "read_mail", "send_rejection")
        self.assertIsNone(self.sent[0]["Bcc"])

    def test_they_fail_with_one_sentence(self):
        for pdf, text, sentence in [
            (PDF, "", "may.pdf has no readable text on its 1 page.*OCR"),
            (PDF, "\ufffd\ufffd \ufffd", "no readable text"),
            (PDF, "locked", "locked with a password"),
            (BROKEN, "", "not a PDF that can be opened: no objects found"),
            (PDF, "Dear Ann, see you soon", "may.pdf: no amount stands beside words like total"),
        ]:
            with self.subTest(sentence), self.assertRaisesRegex(ValueError, sentence):
                self.run_nodes(eml(pdf), "read_mail", "extract_text", "find_total", text=text)

    def test_a_mail_server_that_is_away_is_named(self):
        self.smtp.side_effect = ConnectionRefusedError(111, "Connection refused")
        with self.assertRaisesRegex(RuntimeError, "127.0.0.1:2525 did not take the notice to ann@example.com"):
            self.run_nodes(eml(), "read_mail", "send_rejection")
