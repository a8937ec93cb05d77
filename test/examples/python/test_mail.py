import unittest
from email.message import EmailMessage

import paths  # noqa: F401
from mail import read_mail, received_mail

PDF = b"%PDF-1.7\nbody"


def message(**headers):
    mail = EmailMessage()
    for name, value in {"From": "Ann <ann@example.com>", "Subject": "Invoice", **headers}.items():
        mail[name.replace("_", "-")] = value
    mail.set_content("see attachment")
    return mail


def attach(mail, content, maintype="application", subtype="pdf", filename="a.pdf"):
    mail.add_attachment(content, maintype=maintype, subtype=subtype, filename=filename)
    return mail


def received(*attachments, subject="Invoice"):
    """Returns the value of `email` in the context, as the mail trigger stores it."""
    named = [{"name": name, "type": kind, "bytes": content} for name, kind, content in attachments]
    return {"from": "ann@example.com", "subject": subject, "message_id": "<1@x>", "attachments": named}


class TakesReceivedMail(unittest.TestCase):
    def test_with_sender_subject_and_its_pdfs(self):
        logo, pdf = ("logo.gif", "image/gif", b"GIF89a"), ("a.pdf", "application/pdf", PDF)
        mail = received_mail(received(logo, pdf))
        self.assertEqual((mail.sender, mail.subject, mail.id), ("ann@example.com", "Invoice", "<1@x>"))
        self.assertEqual((mail.pdf, mail.pdf_name, mail.attachments), (PDF, "a.pdf", ["logo.gif", "a.pdf"]))

    def test_and_tells_pdfs_by_what_is_inside(self):
        attachments = [
            ("scan.PDF", "image/png", PDF),
            ("order", "application/octet-stream", PDF + b" 2"),
            ("fake.pdf", "application/pdf", b"<html>"),
            ("notes.txt", "text/plain", PDF),
        ]
        self.assertEqual([pdf.name for pdf in received_mail(received(*attachments)).pdfs], ["scan.PDF", "order"])

    def test_without_attachment_or_subject(self):
        mail = received_mail(received(subject=""))
        self.assertEqual((mail.pdf, mail.attachments, mail.subject), (None, [], "(no subject)"))


class ReadsMail(unittest.TestCase):
    def test_with_sender_subject_and_pdf(self):
        mail = read_mail(attach(message(Message_ID="<1@x>"), PDF).as_bytes())
        self.assertEqual((mail.sender, mail.subject, mail.id), ("ann@example.com", "Invoice", "<1@x>"))
        self.assertEqual((mail.pdf, mail.pdf_name, mail.attachments), (PDF, "a.pdf", ["a.pdf"]))

    def test_with_all_its_pdfs_in_the_order_of_the_mail(self):
        mail = attach(attach(message(), PDF), b"GIF89a", "image", "gif", "logo.gif")
        mail = read_mail(attach(mail, PDF + b" 2", filename="b.pdf").as_bytes())
        self.assertEqual([(pdf.name, pdf.content) for pdf in mail.pdfs], [("a.pdf", PDF), ("b.pdf", PDF + b" 2")])
        self.assertEqual(mail.attachments, ["a.pdf", "logo.gif", "b.pdf"])

    def test_without_attachment(self):
        mail = read_mail(message().as_bytes())
        self.assertEqual((mail.pdf, mail.pdf_name, mail.attachments), (None, None, []))

    def test_whose_pdf_is_sent_as_octets(self):
        mail = read_mail(attach(message(), PDF, subtype="octet-stream", filename="Rechnung März.PDF").as_bytes())
        self.assertEqual((mail.pdf, mail.pdf_name), (PDF, "Rechnung März.PDF"))

    def test_whose_file_is_a_pdf_by_name_only(self):
        mail = read_mail(attach(message(), b"<html>", subtype="octet-stream").as_bytes())
        self.assertIsNone(mail.pdf)
        self.assertEqual(mail.attachments, ["a.pdf"])

    def test_that_was_forwarded_as_a_whole(self):
        outer = message(From="Bob <bob@example.com>")
        outer.add_attachment(attach(message(), PDF))
        mail = read_mail(outer.as_bytes())
        self.assertEqual((mail.sender, mail.pdf), ("bob@example.com", PDF))

    def test_takes_the_first_of_several_pdfs(self):
        mail = attach(attach(message(), PDF + b"1"), PDF + b"2", filename="b.pdf")
        self.assertEqual(read_mail(mail.as_bytes()).pdf, PDF + b"1")

    def test_answers_go_where_the_sender_wants_them(self):
        self.assertEqual(read_mail(message(Reply_To="desk@example.com").as_bytes()).sender, "desk@example.com")

    def test_decodes_subjects(self):
        raw = b"From: a@example.com\r\nSubject: =?utf-8?q?Rechnung_f=C3=BCr_M=C3=A4rz?=\r\n\r\nhi"
        self.assertEqual(read_mail(raw).subject, "Rechnung für März")

    def test_without_a_sender_is_refused(self):
        with self.assertRaisesRegex(ValueError, "no sender"):
            read_mail(b"Subject: hi\r\n\r\nbody")

    def test_that_is_not_bytes_is_refused_with_the_way_out(self):
        with self.assertRaisesRegex(TypeError, "--file mail="):
            read_mail("From: a@example.com")
