/** A mailbox does not answer, knows not who asks, or has no such folder; the message says which. */
export class MailboxUnreachable extends Error {
  override name = "MailboxUnreachable";
}
