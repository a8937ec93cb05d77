import type { ImapFlow } from "imapflow";
import type { MailboxAddress, Mailboxes, OpenMailbox, UnreadMail } from "../ports/mail.ts";
import { MailboxUnreachable } from "./unreachable.ts";

/** The port on which TLS begins at once; on others it has to be asked for. */
const tlsPort = 993;
const patience = { connectionTimeout: 15_000, greetingTimeout: 15_000, socketTimeout: 60_000 };

/** Mailboxes by IMAP4. A password goes over an encrypted connection, or stays on this machine. */
export const imapMailboxes: Mailboxes = {
  async open(address) {
    const client = await connect(address);
    try {
      await reached(address, () => client.mailboxOpen(address.mailbox));
    } catch (error) {
      client.close();
      throw error;
    }
    return mailboxOf(client, address);
  },
};

async function connect(address: MailboxAddress): Promise<ImapFlow> {
  const { host, port, user, password } = address;
  const { ImapFlow } = await import("imapflow");
  const isSecure = port === tlsPort;
  const client = new ImapFlow({
    ...{ host, port, secure: isSecure, auth: { user, pass: password } },
    ...(!isSecure && !isLoopback(host) && { doSTARTTLS: true }),
    ...{ ...patience, logger: false, disableAutoIdle: true },
  });
  // What breaks a connection reaches whoever waits for an answer; beside that it is an event, which would end the process.
  client.on("error", () => undefined);
  return reached(address, async () => {
    await client.connect();
    return client;
  });
}

function mailboxOf(client: ImapFlow, address: MailboxAddress): OpenMailbox {
  const uid = true;
  return {
    unread: (limit) =>
      reached(address, async () => {
        const uids = (await client.search({ seen: false }, { uid })) || [];
        const first = uids.sort((a, b) => a - b).slice(0, limit);
        if (first.length === 0) return [];
        const found = await client.fetchAll(first.join(","), { uid, size: true }, { uid });
        const mails = found.map((mail) => unreadMail(client, address, mail.uid, mail.size ?? 0));
        return mails.sort((a, b) => a.uid - b.uid);
      }),
    markRead: (one) =>
      reached(address, async () => {
        await client.messageFlagsAdd(String(one), ["\\Seen"], { uid });
      }),
    async close() {
      await client.logout().catch(() => client.close());
    },
  };
}

function unreadMail(client: ImapFlow, address: MailboxAddress, uid: number, bytes: number): UnreadMail {
  return {
    uid,
    bytes,
    read: (maxLength) =>
      reached(address, async () => {
        const mail = await client.fetchOne(String(uid), { uid: true, source: { maxLength } }, { uid: true });
        return (mail ? mail.source : undefined) ?? Buffer.alloc(0);
      }),
  };
}

function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || /^127\./.test(host);
}

async function reached<T>({ host, port, user, mailbox }: MailboxAddress, ask: () => Promise<T>): Promise<T> {
  try {
    return await ask();
  } catch (cause) {
    const { authenticationFailed, serverResponseCode, responseText, message } = cause as Partial<
      Record<string, unknown>
    >;
    const isRefused = authenticationFailed === true && serverResponseCode !== "UNAVAILABLE";
    const why = isRefused ? `it refuses the password of ${user}` : String(responseText ?? message);
    throw new MailboxUnreachable(`${mailbox} at ${host}:${port} cannot be read: ${why}`, { cause });
  }
}
