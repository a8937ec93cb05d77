import { createHash } from "node:crypto";
import { headerOf, type MailHeader } from "./headers.ts";
import { senderOf } from "./sender.ts";

/** A mail as it came, with its head read. */
export interface RawMail {
  raw: Buffer;
  headers: readonly MailHeader[];
}

/** What a record shows of a mail, and by which it is known again. */
export interface Letterhead {
  messageId: string;
  /** The Message-ID; of a mail without one, the hash of all of it. */
  dedupe: string;
  from: string;
  about: string;
}

export function letterhead({ raw, headers }: RawMail): Letterhead {
  const messageId = headerOf(headers, "message-id") ?? "";
  const dedupe = messageId !== "" ? messageId : `sha256:${createHash("sha256").update(raw).digest("hex")}`;
  return { messageId, dedupe, from: senderOf(headers), about: headerOf(headers, "subject") ?? "" };
}
