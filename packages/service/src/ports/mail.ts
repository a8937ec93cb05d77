/** Reads the policy that a domain publishes in `_dmarc.<domain>`; see `dmarcPolicies`. */
export type DmarcPolicies = (domain: string) => Promise<"none" | "quarantine" | "reject">;

export interface MailPorts {
  /** Domains that NOVA accepts mail for; empty: all mail that SES or the laptop receives. */
  domains: readonly string[];
  dmarcPolicies: DmarcPolicies;
  mailboxes: Mailboxes;
}

/** Received mails, kept until they are processed. */
export interface IncomingMail {
  /** Undefined if there is no such mail. */
  open(key: string): Promise<{ bytes: number; chunks: AsyncIterable<Uint8Array> } | undefined>;
}

/** The address and the login of a mailbox. */
export interface MailboxAddress {
  host: string;
  port: number;
  user: string;
  password: string;
  /** The folder, such as `INBOX`. */
  mailbox: string;
}

/** A mail that is not marked as read. */
export interface UnreadMail {
  uid: number;
  bytes: number;
  /** Reads up to `maxBytes` from the start of the mail. The mail stays unread. */
  read(maxBytes: number): Promise<Buffer>;
}

export interface OpenMailbox {
  /** Oldest first, at most `limit`. */
  unread(limit: number): Promise<UnreadMail[]>;
  markRead(uid: number): Promise<void>;
  close(): Promise<void>;
}

export interface Mailboxes {
  /** Throws `MailboxUnreachable`, as do the methods of the opened mailbox. */
  open(address: MailboxAddress): Promise<OpenMailbox>;
}

/** A plain-text mail that NOVA sends. */
export interface Notice {
  to: string[];
  /** Absent: the sender address of the deployment. */
  from?: string;
  subject: string;
  text: string;
  /** The run that the mail is about, written into its headers. Stored copies of the mail are erased with that run. */
  about: { execution: string; client?: string };
}

export interface Mailer {
  /** Throws if the mail is not accepted. */
  send(notice: Notice): Promise<void>;
}

/** Posts to URLs that users chose. */
export interface Poster {
  /** Throws `HostRefused` for a forbidden host, and `PostFailed` if the server does not accept the request. */
  post(request: { url: string; body: string; headers: Record<string, string> }): Promise<void>;
}
