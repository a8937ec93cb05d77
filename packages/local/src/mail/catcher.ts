import { mkdir, readdir, readFile } from "node:fs/promises";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { keepMail, maxMailBytes, received, tooLarge } from "./mail-file.ts";

/** A mail that was caught: where it lies, and what its headers say. */
export interface CaughtMail {
  file: string;
  from: string;
  to: string[];
  subject: string;
}

export interface MailCatcher {
  port: number;
  /** In the order of arrival, those of earlier runs included. */
  messages(): Promise<CaughtMail[]>;
  close(): Promise<void>;
}

/** A mail server that delivers nothing: it keeps what it takes as .eml files that any mail program opens. */
export async function openMailCatcher({ dir, port = 0 }: { dir: string; port?: number }): Promise<MailCatcher> {
  const { SMTPServer } = await import("smtp-server");
  await mkdir(dir, { recursive: true });
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ["STARTTLS", "AUTH"],
    disableReverseLookup: true,
    closeTimeout: 1000,
    logger: false,
    size: maxMailBytes,
    onData: (stream, _session, done) => {
      received(stream as AsyncIterable<Buffer>, maxMailBytes)
        .then((mail) => (mail ? keepMail(dir, mail) : Promise.reject(tooLarge(maxMailBytes))))
        .then(() => done(), done);
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
    messages: () => readAll(dir),
    close: () => new Promise((resolve) => server.close(resolve)),
  };
}

async function readAll(dir: string): Promise<CaughtMail[]> {
  const names = (await readdir(dir)).filter((name) => name.endsWith(".eml")).sort();
  return Promise.all(names.map((name) => read(join(dir, name))));
}

async function read(file: string): Promise<CaughtMail> {
  const { default: PostalMime } = await import("postal-mime");
  const mail = await PostalMime.parse(await readFile(file));
  const addresses = (mail.to ?? []).flatMap((to) => to.group ?? [to]);
  return {
    file,
    from: mail.from?.address ?? "",
    to: addresses.map((to) => to.address ?? ""),
    subject: mail.subject ?? "",
  };
}
