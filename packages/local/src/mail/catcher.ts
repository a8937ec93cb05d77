import { mkdir, readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { keepMail } from "@nova/aws-local/ses";
import { type MailServer, openSmtp } from "./smtp.ts";

/** A caught mail: its file and its headers. */
export interface CaughtMail {
  file: string;
  from: string;
  to: string[];
  subject: string;
}

export interface MailCatcher extends MailServer {
  /** All mails in the order of arrival, including those of earlier runs. */
  messages(): Promise<CaughtMail[]>;
}

/** Opens a mail server that delivers no mail: it keeps each mail as an .eml file that any mail program opens. */
export async function openMailCatcher({ dir, port = 0 }: { dir: string; port?: number }): Promise<MailCatcher> {
  await mkdir(dir, { recursive: true });
  const server = await openSmtp({ port, take: async (mail) => `OK ${await keepMail(dir, mail)}` });
  return { ...server, messages: () => readAll(dir) };
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
