"""Mails that the workflow sends."""

from __future__ import annotations

import hashlib
import os
import smtplib
from email.message import EmailMessage

SECONDS = 20


def send_notice(context: dict, to: str, subject: str, body: str, answers: str = "") -> dict:
    """Sends one mail. Its id comes from the node's run, so the receiver recognises a repeated mail."""
    sender = context.get("notices_from", "invoices@example.com")
    message = EmailMessage()
    message["From"], message["To"], message["Subject"] = sender, to, " ".join(subject.split())
    message["Message-ID"] = message_id(os.environ["NOVA_IDEMPOTENCY_KEY"], sender)
    message["Auto-Submitted"] = "auto-replied" if answers else "auto-generated"
    if answers:
        message["In-Reply-To"] = message["References"] = answers
    message.set_content(body)
    _hand_over(message, context["smtp_host"], context["smtp_port"])
    return {"to": to, "subject": message["Subject"], "message_id": message["Message-ID"]}


def message_id(key: str, sender: str) -> str:
    return f"<{hashlib.sha256(key.encode()).hexdigest()[:32]}@{sender.rpartition('@')[2] or 'localhost'}>"


def amount_text(context: dict) -> str:
    return f"{context['total_amount']:,.2f} {context['currency'] or ''}".strip()


def _hand_over(message: EmailMessage, host: str, port: int) -> None:
    try:
        with smtplib.SMTP(host, port, timeout=SECONDS) as server:
            server.send_message(message)
    except (OSError, smtplib.SMTPException) as error:
        raise RuntimeError(
            f"the mail server {host}:{port} did not take the notice to {message['To']}: {error}"
        ) from error
