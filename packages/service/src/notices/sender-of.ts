import type { Client } from "../ports/clients.ts";
import type { ServicePorts } from "../ports/index.ts";
import type { Notice } from "../ports/notices.ts";

/** Who a mail about a run of a client is from: the client's own address, where it has one. */
export function fromOf(client: Pick<Client, "mailFrom"> | undefined): Pick<Notice, "from"> {
  return client?.mailFrom ? { from: client.mailFrom } : {};
}

export async function senderOf({ clients }: Pick<ServicePorts, "clients">, slug: string | undefined) {
  return fromOf(slug === undefined ? undefined : await clients.get(slug));
}
