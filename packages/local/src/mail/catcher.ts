import { mkdir, readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { monotonicFactory } from "ulid";
import { writeWhole } from "../disk/whole-file.ts";
import { type MailServer, openSmtp } from "./smtp.ts";

/** A mail that was caught: where it lies, and what its headers say. */
export interface CaughtMail {
  file: string;
  from: string;
  to: string[];
  subject: string;
}

export interface MailCatcher extends MailServer {
  /** In the order of arrival, those of earlier runs included. */
  messages(): Promise<CaughtMail[]>;
}

/** A mail server that delivers nothing: it keeps what it takes as .eml files that any mail program opens. */
export async function openMailCatcher({ dir, port = 0 }: { dir: string; port?: number }): Promise<MailCatcher> {
  await mkdir(dir, { recursive: true });
  const server = await openSmtp({ port, take: async (mail) => `OK ${await keepMail(dir, mail)}` });
  return { ...server, messages: () => readAll(dir) };
}

const nextId = monotonicFactory();

/** Keeps a mail as an .eml file under a name that sorts by arrival, whole before it can be seen. Answers the name. */
export async function keepMail(dir: string, mail: Buffer): Promise<string> {
  const id = nextId();
  const path = join(dir, `${id}.eml`);
  await mkdir(dir, { recursive: true });
  writeWhole(path, mail);
  return id;
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
