import type { AddressInfo } from "node:net";
import type { SMTPServerSession } from "smtp-server";

/** The largest mail that SES accepts. */
const maxMailBytes = 40 * 1024 * 1024;

export interface SmtpOptions {
  /** The port; absent or 0: any free port. */
  port?: number;
  /** The largest mail; absent: 40 MB, the limit of SES. */
  maxBytes?: number;
  /**
   * Stores a mail for good. Resolves with the text for the sender. Rejects with an error of `smtpError` to say more than
   * "try again".
   */
  take(raw: Buffer, session: SMTPServerSession): Promise<string>;
}

export interface MailServer {
  port: number;
  close(): Promise<void>;
}

/** Opens a mail server that accepts mail for any address from any client. Rejects if the port is taken. */
export async function openSmtp({ port = 0, maxBytes = maxMailBytes, take }: SmtpOptions): Promise<MailServer> {
  const { SMTPServer } = await import("smtp-server");
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ["STARTTLS", "AUTH"],
    disableReverseLookup: true,
    size: maxBytes,
    closeTimeout: 1000,
    logger: false,
    onData(stream, session, done) {
      readMail(stream as AsyncIterable<Buffer>, maxBytes)
        .then((raw) => take(raw, session))
        .then((answer) => done(null, answer), done);
    },
  });
  // A client may hang up at any time; the server serves the next one.
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

/** Reads even a mail that is too large to its end: the client does not read an answer before. */
async function readMail(stream: AsyncIterable<Buffer>, maxBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of stream) {
    bytes += chunk.length;
    if (bytes <= maxBytes) chunks.push(chunk);
  }
  if (bytes > maxBytes) throw smtpError(552, `a mail may have ${maxBytes} bytes`);
  return Buffer.concat(chunks);
}

/** An answer to the sender; the code says whether another try may succeed. */
export function smtpError(responseCode: number, message: string): Error {
  return Object.assign(new Error(message), { responseCode });
}
