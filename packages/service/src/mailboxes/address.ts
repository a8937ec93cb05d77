import { NovaError } from "@nova/engine";
import type { ImapTrigger } from "@nova/workflow";
import type { ServicePorts } from "../ports/index.ts";
import type { MailboxAddress } from "../ports/mail.ts";
import { MailboxUnreachable } from "./unreachable.ts";

/** How the mailbox of a trigger is reached, as the client's credential says. Throws `MailboxUnreachable`. */
export async function mailboxAddress(
  { credentials }: Pick<ServicePorts, "credentials">,
  workflow: string,
  { client, credential, mailbox }: ImapTrigger,
): Promise<MailboxAddress> {
  const values = await valuesOf(credentials, client, workflow, credential);
  const [host, port, user, password] = ["imap_host", "imap_port", "email_user", "email_password"].map((name) =>
    values.get(name),
  );
  if (typeof host === "string" && typeof port === "number" && typeof user === "string" && typeof password === "string")
    return { host, port, user, password, mailbox };
  throw new MailboxUnreachable(
    `credential "${credential}" of client "${client}" names no mailbox - store one of the kind email with imap_host`,
  );
}

async function valuesOf(
  credentials: ServicePorts["credentials"],
  client: string,
  workflow: string,
  name: string,
): Promise<Map<string, unknown>> {
  try {
    const { members } = await credentials.forNode(client, workflow, [name]);
    return new Map(members.map(({ key, json }) => [key, JSON.parse(json)]));
  } catch (error) {
    if (!(error instanceof NovaError) || error.name !== "NodeFailed") throw error;
    throw new MailboxUnreachable(error.message, { cause: error });
  }
}
