import { z } from "zod";
import { type CredentialKind, Host, Port, Secret, Text } from "../kind.ts";

const Email = z
  .strictObject({
    user: Text,
    password: Secret,
    smtp_host: Host.optional(),
    smtp_port: Port.optional(),
    imap_host: Host.optional(),
    imap_port: Port.optional(),
  })
  .refine((email) => email.smtp_host !== undefined || email.imap_host !== undefined, {
    error: "needs smtp_host, imap_host or both",
  })
  .transform(({ smtp_port = 587, imap_port = 993, ...email }) => ({
    ...email,
    ...(email.smtp_host !== undefined && { smtp_port }),
    ...(email.imap_host !== undefined && { imap_port }),
  }));

type Email = z.output<typeof Email>;

/** A mailbox: IMAP reads it, SMTP sends from it. */
export const email: CredentialKind<Email> = {
  schema: Email,
  secretFields: ["password"],
  flatten: ({ user, password, ...servers }) => ({ email_user: user, email_password: password, ...servers }),
  hosts: ({ smtp_host, smtp_port, imap_host, imap_port }) => [
    ...(smtp_host === undefined ? [] : [`${smtp_host}:${smtp_port}`]),
    ...(imap_host === undefined ? [] : [`${imap_host}:${imap_port}`]),
  ],
};
