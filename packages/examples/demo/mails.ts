import { randomUUID } from "node:crypto";
import { readdir } from "node:fs/promises";
import { basename, join } from "node:path";
import MailComposer from "nodemailer/lib/mail-composer/index.js";

/** The PDFs of the invoice example, with the totals that people read on them. */
export const invoices = join(import.meta.dirname, "../invoice/invoices");

export async function ownInvoices(): Promise<string[]> {
  const names = (await readdir(invoices)).filter((name) => name.endsWith(".pdf")).sort();
  return names.map((name) => join(invoices, name));
}

/** A received mail; `file` names it in the demo's table. */
export interface InvoiceMail {
  file: string;
  /** Its Message-ID. */
  id: string;
  eml: Buffer;
}

/** Builds a real message for each PDF, and one without its PDF. The messages differ only in the file. */
export async function invoiceMails(pdfPaths: string[]): Promise<InvoiceMail[]> {
  const withPdf = pdfPaths.map((path) =>
    compose(basename(path), `Invoice ${basename(path, ".pdf")}`, [{ path, contentType: "application/pdf" }]),
  );
  return Promise.all([...withPdf, compose("(no attachment)", "Invoice as agreed", [])]);
}

/** Builds one message with all of the PDFs, in this order. */
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
