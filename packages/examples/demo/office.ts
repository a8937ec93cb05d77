import { setTimeout as sleep } from "node:timers/promises";
import type { LocalCloud } from "@nova/local";
import { createClient, listDeliveries, type Principal, publish, setCredential } from "@nova/service";
import { readWorkflowSource } from "@nova/workflow";
import { createTransport } from "nodemailer";
import type { Database } from "./database.ts";
import type { InvoiceMail } from "./mails.ts";

/** The client that owns the mails. */
export const client = "idom";

/** The address of the client's mails, from the workflow's trigger and the client's slug. */
export const address = `invoices+${client}@in.example.com`;

/** The principal of the demo. */
export const operator: Principal = { id: "demo", role: "admin", client: null, name: "demo" };

export interface OfficeServers {
  /** Port of the mail server for notices. */
  smtpPort: number;
  database: Database;
}

/** Creates the client with its mailbox and its database, and publishes the workflow with its mail trigger. */
export async function openOffice({ service }: LocalCloud, folder: string, servers: OfficeServers): Promise<void> {
  if (!(await service.clients.get(client))) await createClient(service, operator, { slug: client, name: "Idom" });
  const { host, port, name, user, password, sslmode } = servers.database;
  const email = { user: "invoices@example.com", password, smtp_host: "127.0.0.1", smtp_port: servers.smtpPort };
  const credentials = { email, database: { host, port, name, user, password, sslmode } };
  for (const [kind, values] of Object.entries(credentials)) {
    await setCredential(service, operator, {
      owner: { client },
      name: kind,
      kind: kind as keyof typeof credentials,
      values,
    });
  }
  await publish(service, operator, await readWorkflowSource(folder));
}

const timeoutMs = 60_000;
const pauseMs = 50;

/** A sent mail started no run. */
export class MailRefused extends Error {
  override name = "MailRefused";
}

/** Sends a mail like a mail program, and returns the id of the run that it started. Throws `MailRefused`. */
export async function deliver({ service }: LocalCloud, smtpPort: number, { eml, id }: InvoiceMail): Promise<string> {
  const transport = createTransport({ host: "127.0.0.1", port: smtpPort, secure: false, ignoreTLS: true });
  await transport.sendMail({ envelope: { from: "billing@supplier.example", to: address }, raw: eml });
  const end = Date.now() + timeoutMs;
  for (;;) {
    const { items } = await listDeliveries(service, operator, { workflow: "invoice", client, limit: 100 });
    const delivery = items.find(({ dedupe }) => dedupe === id);
    if (delivery?.status === "started" && delivery.execution !== null) return delivery.execution;
    if (delivery?.reason) throw new MailRefused(`the mail ${id} was refused: ${delivery.reason}`);
    if (Date.now() > end)
      throw new MailRefused(`the mail ${id} started nothing within ${timeoutMs / 1000} s - run the demo again`);
    await sleep(pauseMs);
  }
}
