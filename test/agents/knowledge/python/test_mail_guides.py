import imaplib
import os
import ssl
import unittest
from email import message_from_bytes, policy
from email.message import EmailMessage
from unittest import mock

import servers
from guide import run


def mail(subject="Invoice 7", attachment=b"%PDF-1.4 \xff\x00"):
    message = EmailMessage()
    message["From"] = "José <jose@acme.example>"
    message["Subject"] = subject
    message.set_content("Grüße,\nJosé\n")
    message.add_attachment(attachment, maintype="application", subtype="octet-stream", filename="Größe 7.PDF")
    message.add_attachment(EmailMessage(), filename="forwarded.eml")
    return message.as_bytes(policy=policy.SMTP)


def without_tls(host, port, ssl_context, timeout):
    """Replaces IMAP4_SSL, because the test server has no TLS. Fails if the guide would accept any certificate."""
    assert ssl_context.verify_mode == ssl.CERT_REQUIRED and ssl_context.check_hostname
    return imaplib.IMAP4(host, port, timeout)


class ReadingMail(unittest.TestCase):
    def read(self, mails):
        server = servers.imap(mails)
        with servers.serving(server) as port, mock.patch.object(imaplib, "IMAP4_SSL", without_tls):
            context = {"imap_host": "127.0.0.1", "imap_port": port, "email_user": "a", "email_password": "secret"}
            run("imap", context)
        return context, server.seen

    def test_reads_the_oldest_unread_mail_and_marks_it_as_read(self):
        context, seen = self.read({4: mail(), 9: mail("later")})
        self.assertEqual(context["has_email"], True)
        self.assertEqual(context["email"]["from"], "José <jose@acme.example>")
        self.assertEqual(context["email"]["subject"], "Invoice 7")
        self.assertEqual(context["email"]["text"], "Grüße,\nJosé\n")
        self.assertEqual(seen, [4])

    def test_stores_attachments_and_forwarded_mails_as_bytes(self):
        context, _ = self.read({4: mail()})
        pdf, forwarded = context["email"]["attachments"]
        self.assertEqual(pdf, {"name": "Größe 7.PDF", "data": b"%PDF-1.4 \xff\x00"})
        self.assertIsInstance(forwarded["data"], bytes)

    def test_reports_that_there_is_no_unread_mail(self):
        context, seen = self.read({})
        self.assertEqual((context["has_email"], "email" in context, seen), (False, False, []))


class SendingMail(unittest.TestCase):
    def test_sends_text_and_attachment_with_the_idempotency_key_as_message_id(self):
        server = servers.smtp()
        with servers.serving(server) as port, mock.patch.dict(os.environ, {"NOVA_IDEMPOTENCY_KEY": "exec_1/2.0"}):
            context = {"smtp_host": "127.0.0.1", "smtp_port": str(port), "email_user": "me@acme.example"}
            context.update(recipient="you@example.org", subject="Rechnung\n 7", text="Grüße", pdf=b"%PDF \xff")
            run("smtp", context)
        [(recipients, raw)] = server.taken
        sent = message_from_bytes(raw, policy=policy.default)
        self.assertEqual(recipients, ["you@example.org"])
        self.assertEqual(sent["Subject"], "Rechnung 7")
        self.assertEqual(sent["Message-ID"], "<exec_1/2.0@nova>")
        self.assertEqual(sent.get_body().get_content().strip(), "Grüße")
        self.assertEqual([part.get_content() for part in sent.iter_attachments()], [b"%PDF \xff"])
        self.assertEqual((context["email_sent"], context["refused_recipients"]), (True, []))


if __name__ == "__main__":
    unittest.main()
