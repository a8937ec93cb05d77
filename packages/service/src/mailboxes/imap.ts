import { isIPv4 } from "node:net";
import { HostRefused } from "@nova/engine";
import type { ImapFlow } from "imapflow";
import type { Outgoing } from "../outgoing/outgoing.ts";
import type { MailboxAddress, Mailboxes, OpenMailbox, UnreadMail } from "../ports/triggers.ts";
import { MailboxUnreachable } from "./poll.ts";

/** The port that uses TLS from the start. On other ports the client must request TLS. */
const tlsPort = 993;
const ports = [143, tlsPort];
const patience = { connectionTimeout: 15_000, greetingTimeout: 15_000, socketTimeout: 60_000 };

/**
 * Opens mailboxes with IMAP4. A password is sent only over an encrypted connection, or to a server on this machine. If
 * private addresses are forbidden, only the ports of IMAP are allowed: a trigger must not find out what else listens on
 * a host.
 */
export function imapMailboxes(outgoing: Omit<Outgoing, "fetch">): Mailboxes {
  return {
    async open(address) {
      const client = await connect(address, outgoing);
      try {
        await reportUnreachable(address, () => client.mailboxOpen(address.mailbox));
      } catch (error) {
        client.close();
        throw error;
      }
      return mailboxOf(client, address);
    },
  };
}

async function connect(address: MailboxAddress, outgoing: Omit<Outgoing, "fetch">): Promise<ImapFlow> {
  const { host, port, user, password } = address;
  const { ImapFlow } = await import("imapflow");
  const isSecure = port === tlsPort;
  const { allowsPrivate, lookup } = outgoing;
  const client = new ImapFlow({
    host,
    port,
    secure: isSecure,
    auth: { user, pass: password },
    tls: { lookup },
    ...(!isSecure && !(allowsPrivate && isLoopback(host)) && { doSTARTTLS: true }),
    ...patience,
    logger: false,
    disableAutoIdle: true,
  });
  // Ignores the event of a broken connection, because the pending call reports the same error. Without a listener, the
  // event would end the process.
  client.on("error", () => undefined);
  return reportUnreachable(address, async () => {
    outgoing.admit(host);
    if (!allowsPrivate && !ports.includes(port))
      throw new HostRefused(`port ${port} is not one of ${ports.join(", ")}`);
    await client.connect();
    return client;
  });
}

function mailboxOf(client: ImapFlow, address: MailboxAddress): OpenMailbox {
  const uid = true;
  return {
    unread: (limit) =>
      reportUnreachable(address, async () => {
        const uids = (await client.search({ seen: false }, { uid })) || [];
        const first = uids.sort((a, b) => a - b).slice(0, limit);
        if (first.length === 0) return [];
        const found = await client.fetchAll(first.join(","), { uid, size: true }, { uid });
        const mails = found.map(({ uid: one, size: bytes = 0 }): UnreadMail => {
          const source = async (maxLength: number) => {
            const mail = await client.fetchOne(String(one), { uid, source: { maxLength } }, { uid });
            return (mail ? mail.source : undefined) ?? Buffer.alloc(0);
          };
          return { uid: one, bytes, read: (maxBytes) => reportUnreachable(address, () => source(maxBytes)) };
        });
        return mails.sort((a, b) => a.uid - b.uid);
      }),
    markRead: (one) =>
      reportUnreachable(address, async () => {
        await client.messageFlagsAdd(String(one), ["\\Seen"], { uid });
      }),
    async close() {
      await client.logout().catch(() => client.close());
    },
  };
}

function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || (isIPv4(host) && host.startsWith("127."));
}

/** One text for every failure to connect, so a caller cannot find out whether a program listens on the port. */
const noServer =
  "no mail server answers there with a valid certificate - check imap_host, which must be reachable from the internet, and imap_port (143 or 993)";

async function reportUnreachable<T>({ host, port, user, mailbox }: MailboxAddress, ask: () => Promise<T>): Promise<T> {
  try {
    return await ask();
  } catch (cause) {
    throw new MailboxUnreachable(`${mailbox} at ${host}:${port} cannot be read: ${reasonOf(cause, user)}`, { cause });
  }
}

/** Returns the reason of a failure. It quotes the server only after the server has answered as a mail server does. */
function reasonOf(cause: unknown, user: string): string {
  const { authenticationFailed, serverResponseCode, responseText } = cause as Partial<Record<string, unknown>>;
  if (authenticationFailed === true && serverResponseCode !== "UNAVAILABLE")
    return `it refuses the password of ${user}`;
  return responseText === undefined ? noServer : String(responseText).slice(0, 200);
}
