/** What a domain asks for in `_dmarc.<domain>`; see `dmarcPolicies`. */
export type DmarcPolicies = (domain: string) => Promise<"none" | "quarantine" | "reject">;

/** What mail needs of the outside world. */
export interface MailPorts {
  /** Domains that NOVA takes mail for; where none is named, whatever SES or a laptop takes in is for us. */
  domains: readonly string[];
  dmarcPolicies: DmarcPolicies;
  mailboxes: Mailboxes;
}

/** Mails that have come in and are kept until somebody has looked at them. */
export interface IncomingMail {
  /** Undefined where there is none. */
  open(key: string): Promise<{ bytes: number; chunks: AsyncIterable<Uint8Array> } | undefined>;
}

/** How a mailbox is reached. */
export interface MailboxAddress {
  host: string;
  port: number;
  user: string;
  password: string;
  /** Its folder: `INBOX`. */
  mailbox: string;
}

/** A mail that nobody has read yet. */
export interface UnreadMail {
  uid: number;
  bytes: number;
  /** As much of it as is asked for, from its beginning. It stays unread. */
  read(maxBytes: number): Promise<Buffer>;
}

export interface OpenMailbox {
  /** Oldest first, at most so many. */
  unread(limit: number): Promise<UnreadMail[]>;
  markRead(uid: number): Promise<void>;
  close(): Promise<void>;
}

export interface Mailboxes {
  /** Throws `MailboxUnreachable`, as do the methods of what it opens. */
  open(address: MailboxAddress): Promise<OpenMailbox>;
}

/** A mail of NOVA's own, as text. */
export interface Notice {
  to: string[];
  /** Absent: the deployment's address. */
  from?: string;
  subject: string;
  text: string;
  /** What it is about: with that, a copy of it is erased. Heads of the mail say so. */
  about: { execution: string; client?: string };
}

export interface Mailer {
  /** Throws where it is not taken. */
  send(notice: Notice): Promise<void>;
}

/** Posts to addresses that others have chosen. */
export interface Poster {
  /** Throws `HostRefused` where it may not be posted to, `PostFailed` where it is not taken. */
  post(request: { url: string; body: string; headers: Record<string, string> }): Promise<void>;
}
