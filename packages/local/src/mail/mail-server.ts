import type { AddressInfo } from "node:net";
import { readHeaders, senderOf } from "@nova/service";
import { SMTPServer, type SMTPServerDataStream, type SMTPServerSession } from "smtp-server";
import { monotonicFactory } from "ulid";
import { notOpened } from "../cloud/errors.ts";
import { maxMailBytes, received, refusal, tooLarge } from "./mail-file.ts";
import { type Envelope, sesHead } from "./ses-head.ts";

export interface MailServerOptions {
  /** 0: any that is free. */
  port: number;
  /** Keeps a mail for good; its sender is told so when this resolves, and to try again when it rejects. */
  store(key: string, raw: Buffer): Promise<void>;
  /** The largest mail; absent: 40 MB, as of SES. */
  maxBytes?: number;
}

export interface MailServer {
  port: number;
  close(): Promise<void>;
}

const nextId = monotonicFactory();

/**
 * SES's side of a laptop: takes mail for any address, and puts it under `mail/` as SES does. Throws `LocalCloudError`
 * where the port is taken.
 */
export async function openMailServer({ port, store, maxBytes = maxMailBytes }: MailServerOptions): Promise<MailServer> {
  const server = new SMTPServer({
    ...{ authOptional: true, disabledCommands: ["STARTTLS", "AUTH"], disableReverseLookup: true },
    ...{ size: maxBytes, closeTimeout: 1000, logger: false },
    onData(stream, session, done) {
      take(stream, session, { store, maxBytes }).then((answer) => done(null, answer), done);
    },
  });
  // A client that hangs up in the middle is its own affair; the server serves the next one.
  server.on("error", () => undefined);
  await new Promise<void>((resolve, reject) => {
    server.server.once("error", (cause) => reject(notOpened(port, cause, "--smtp-port")));
    server.listen(port, "127.0.0.1", resolve);
  });
  return {
    port: (server.server.address() as AddressInfo).port,
    close: () => new Promise((resolve) => server.close(resolve)),
  };
}

/** Answers what the sender is told. */
async function take(
  stream: SMTPServerDataStream,
  { remoteAddress, envelope: { mailFrom, rcptTo } }: SMTPServerSession,
  { store, maxBytes }: Pick<MailServerOptions, "store"> & { maxBytes: number },
): Promise<string> {
  const raw = await received(stream as AsyncIterable<Buffer>, maxBytes);
  if (!raw) throw tooLarge(maxBytes);
  const id = nextId().toLowerCase();
  const from = mailFrom === false ? "" : mailFrom.address;
  const envelope: Envelope = {
    client: remoteAddress,
    from,
    sender: senderOf(readHeaders(raw) ?? []),
    to: rcptTo.map(({ address }) => address),
    id,
    at: new Date(),
  };
  try {
    await store(`mail/${id}`, Buffer.concat([Buffer.from(sesHead(envelope)), raw]));
  } catch (error) {
    throw refusal(451, `the mail could not be stored: ${error instanceof Error ? error.message : error}`);
  }
  return `OK ${id}`;
}
