import { setTimeout as sleep } from "node:timers/promises";
import type { LocalCloud } from "@nova/local";
import { listDeliveries } from "@nova/service";
import { createTransport } from "nodemailer";
import type { InvoiceMail } from "./mails.ts";
import { address, client, operator } from "./office.ts";

const patienceMs = 60_000;
const pauseMs = 50;

/** A mail that was sent, and started no run. */
export class MailRefused extends Error {
  override name = "MailRefused";
}

/** Sends a mail as any mail program does, and answers the id of the run that it started. Throws `MailRefused`. */
export async function deliver({ service }: LocalCloud, smtpPort: number, { eml, id }: InvoiceMail): Promise<string> {
  const transport = createTransport({ host: "127.0.0.1", port: smtpPort, secure: false, ignoreTLS: true });
  await transport.sendMail({ envelope: { from: "billing@supplier.example", to: address }, raw: eml });
  const end = Date.now() + patienceMs;
  for (;;) {
    const { items } = await listDeliveries(service, operator, { workflow: "invoice", client, limit: 100 });
    const delivery = items.find(({ dedupe }) => dedupe === id);
    if (delivery?.status === "started" && delivery.execution !== null) return delivery.execution;
    if (delivery?.reason) throw new MailRefused(`the mail ${id} was refused: ${delivery.reason}`);
    if (Date.now() > end)
      throw new MailRefused(`the mail ${id} started nothing within ${patienceMs / 1000} s - run the demo again`);
    await sleep(pauseMs);
  }
}
