import { createHash } from "node:crypto";
import { type FileInPlace, newFileMark } from "@nova/engine";
import type { MailAttachment, ParsedMail } from "./parse-mail.ts";

/** What a run starts with for a mail: `email`, and the flat names of it. The bytes of attachments go beside the text. */
export function mailContext(mail: ParsedMail, messageId: string): { context: string; files: FileInPlace[] } {
  const { subject, from, fromName, to, cc, date, text, html } = mail;
  const placed = mail.attachments.map(placeAttachment);
  const attachments = placed.map(({ shown }) => shown);
  const context = {
    email: { subject, from, from_name: fromName, to, cc, date, text, html, message_id: messageId, attachments },
    email_from: from,
    email_subject: subject,
    email_body: text !== "" ? text : (html ?? ""),
    email_attachments: attachments,
  };
  return { context: JSON.stringify(context), files: placed.map(({ file }) => file) };
}

function placeAttachment({ name, type, bytes }: MailAttachment) {
  const mark = newFileMark();
  const sha256 = createHash("sha256").update(bytes).digest("hex");
  const file: FileInPlace = { mark, sha256, bytes: bytes.length, open: () => once(bytes) };
  return { shown: { name, type, bytes: mark }, file };
}

async function* once(bytes: Uint8Array): AsyncIterable<Uint8Array> {
  yield bytes;
}
