import type { AddressInfo } from "node:net";
import type { SMTPServerSession } from "smtp-server";

/** SES: the largest mail that it takes in. */
const maxMailBytes = 40 * 1024 * 1024;

export interface SmtpOptions {
  /** 0: any that is free. */
  port?: number;
  /** The largest mail; absent: 40 MB, as of SES. */
  maxBytes?: number;
  /** Keeps a mail for good. Answers what its sender is told; rejects with an error of `refusal` to say more than "try again". */
  take(raw: Buffer, session: SMTPServerSession): Promise<string>;
}

export interface MailServer {
  port: number;
  close(): Promise<void>;
}

/** A mail server that takes mail for any address from anybody. Rejects where the port cannot be had. */
export async function openSmtp({ port = 0, maxBytes = maxMailBytes, take }: SmtpOptions): Promise<MailServer> {
  const { SMTPServer } = await import("smtp-server");
  const server = new SMTPServer({
    ...{ authOptional: true, disabledCommands: ["STARTTLS", "AUTH"], disableReverseLookup: true },
    ...{ size: maxBytes, closeTimeout: 1000, logger: false },
    onData(stream, session, done) {
      received(stream as AsyncIterable<Buffer>, maxBytes)
        .then((raw) => take(raw, session))
        .then((answer) => done(null, answer), done);
    },
  });
  // A client that hangs up in the middle is its own affair; the server serves the next one.
  server.on("error", () => undefined);
  await new Promise<void>((resolve, reject) => {
    server.server.once("error", reject);
    server.listen(port, "127.0.0.1", resolve);
  });
  return {
    port: (server.server.address() as AddressInfo).port,
    close: () => new Promise((resolve) => server.close(resolve)),
  };
}

/** Reads one that is too large to its end all the same: before, nobody listens to an answer. */
async function received(stream: AsyncIterable<Buffer>, maxBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of stream) {
    bytes += chunk.length;
    if (bytes <= maxBytes) chunks.push(chunk);
  }
  if (bytes > maxBytes) throw refusal(552, `a mail may have ${maxBytes} bytes`);
  return Buffer.concat(chunks);
}

/** What a sender is told; the code says whether it is worth another try. */
export function refusal(responseCode: number, message: string): Error {
  return Object.assign(new Error(message), { responseCode });
}
