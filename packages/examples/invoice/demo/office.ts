import type { LocalCloud } from "@nova/local";
import { createClient, type Principal, publish, setCredential } from "@nova/service";
import { readWorkflowSource } from "@nova/workflow";
import type { Database } from "../../demo/postgres.ts";

/** The client whose mails come in. */
export const client = "idom";

/** Where the client's mails go, as the trigger of the workflow and the client's slug make it. */
export const address = `invoices+${client}@in.example.com`;

/** Who may do what the demo does. */
export const operator: Principal = { id: "demo", role: "admin", client: null, name: "demo" };

export interface OfficeServers {
  /** Of the mail server that takes the notices. */
  smtpPort: number;
  database: Database;
}

/** The client with its mailbox and its database, and the workflow, whose mail trigger becomes real with it. */
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
