import { randomUUID } from "node:crypto";
import { readdir } from "node:fs/promises";
import { basename, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { LocalCloud } from "@nova/local";
import { createClient, listDeliveries, type Principal, publish, setCredential } from "@nova/service";
import { readWorkflowSource } from "@nova/workflow";
import { createTransport } from "nodemailer";
import MailComposer from "nodemailer/lib/mail-composer/index.js";
import type { Database } from "./database.ts";

/** The folder of the PDFs of the invoice example, with the totals that people have read on them. */
export const invoices = join(import.meta.dirname, "../invoice/invoices");

export async function ownInvoices(): Promise<string[]> {
  const names = (await readdir(invoices)).filter((name) => name.endsWith(".pdf")).sort();
  return names.map((name) => join(invoices, name));
}

/** A mail of the demo. `file` is its name in the printed table. */
export interface InvoiceMail {
  file: string;
  /** Message-ID of the mail. */
  id: string;
  eml: Buffer;
}

/**
 * Builds a complete mail for each PDF, and one mail without an attachment. The mails differ only in the attached file.
 */
export async function invoiceMails(pdfPaths: string[]): Promise<InvoiceMail[]> {
  const withPdf = pdfPaths.map((path) =>
    compose(basename(path), `Invoice ${basename(path, ".pdf")}`, [{ path, contentType: "application/pdf" }]),
  );
  return Promise.all([...withPdf, compose("(no attachment)", "Invoice as agreed", [])]);
}

export async function mailWith(pdfPaths: string[]): Promise<Buffer> {
  const attachments = pdfPaths.map((path) => ({ path, contentType: "application/pdf" }));
  return (await compose("all", "Invoices of this month", attachments)).eml;
}

type Attachments = { path: string; contentType: string }[];

async function compose(file: string, subject: string, attachments: Attachments): Promise<InvoiceMail> {
  const messageId = `<${randomUUID()}@supplier.example>`;
  const message = new MailComposer({
    messageId,
    from: "Billing <billing@supplier.example>",
    to: "invoices+idom@in.example.com",
    subject,
    text: "Please find our invoice attached.\n",
    attachments,
  });
  return { file, id: messageId, eml: await message.compile().build() };
}

const client = "idom";

/** The address to which the client's invoices are sent: the address of the mail trigger, and the client's slug. */
export const address = `invoices+${client}@in.example.com`;

const operator: Principal = { id: "demo", role: "admin", client: null, name: "demo" };

/** Creates the client with its mailbox and its database, and publishes the workflow with its mail trigger. */
export async function openOffice(
  { service }: LocalCloud,
  folder: string,
  servers: { smtpPort: number; database: Database },
): Promise<void> {
  if (!(await service.clients.get(client))) await createClient(service, operator, { slug: client, name: "Idom" });
  const { host, port, name, user, password, sslmode } = servers.database;
  const email = { user: "invoices@example.com", password, smtp_host: "127.0.0.1", smtp_port: servers.smtpPort };
  const credentials = { email, database: { host, port, name, user, password, sslmode } };
  for (const kind of ["email", "database"] as const) {
    await setCredential(service, operator, { owner: { client }, name: kind, kind, values: credentials[kind] });
  }
  await publish(service, operator, await readWorkflowSource(folder));
}

const timeoutMs = 60_000;
const pauseMs = 50;

/** Sends a mail like a mail program, and returns the id of the run that it started. */
export async function deliver({ service }: LocalCloud, smtpPort: number, { eml, id }: InvoiceMail): Promise<string> {
  const transport = createTransport({ host: "127.0.0.1", port: smtpPort, secure: false, ignoreTLS: true });
  await transport.sendMail({ envelope: { from: "billing@supplier.example", to: address }, raw: eml });
  const end = Date.now() + timeoutMs;
  for (;;) {
    const { items } = await listDeliveries(service, operator, { workflow: "invoice", client, limit: 100 });
    const delivery = items.find(({ dedupe }) => dedupe === id);
    if (delivery?.status === "started" && delivery.execution !== null) return delivery.execution;
    if (delivery?.reason) throw new Error(`the mail ${id} was refused: ${delivery.reason}`);
    if (Date.now() > end)
      throw new Error(`the mail ${id} started nothing within ${timeoutMs / 1000} s - run the demo again`);
    await sleep(pauseMs);
  }
}
