import { randomUUID } from "node:crypto";
import { basename } from "node:path";
import MailComposer from "nodemailer/lib/mail-composer/index.js";

/** A mail as it would arrive; `file` names it in the demo's table. */
export interface InvoiceMail {
  file: string;
  /** Its Message-ID. */
  id: string;
  eml: Buffer;
}

/** A real message around each PDF, and one in which the PDF was forgotten. Messages differ by nothing but their file. */
export async function invoiceMails(pdfPaths: string[]): Promise<InvoiceMail[]> {
  const withPdf = pdfPaths.map((path) =>
    compose(basename(path), `Invoice ${basename(path, ".pdf")}`, [{ path, contentType: "application/pdf" }]),
  );
  return Promise.all([...withPdf, compose("(no attachment)", "Invoice as agreed", [])]);
}

/** One message with all of the PDFs, in this order. */
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
