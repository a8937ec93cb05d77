import type { Execution } from "@nova/engine";
import { eraseExecution } from "../erasing/erase-execution.ts";
import type { Client } from "../ports/clients.ts";
import type { ServicePorts } from "../ports/index.ts";

type RetentionPorts = Pick<ServicePorts, "clients" | "executions" | "eraser" | "clock">;

const dayMs = 24 * 60 * 60 * 1000;
const clientsInPage = 100;

/**
 * Erases what runs of clients with `retentionDays` knew, said and stored, once they have ended so long ago; their chains
 * stay, and verify. Answers whose contents are gone. Twice does no harm.
 */
export async function eraseExpired(ports: RetentionPorts): Promise<string[]> {
  const erased: string[] = [];
  for await (const client of allClients(ports)) {
    const { retentionDays } = client.quotas ?? {};
    if (retentionDays !== undefined) erased.push(...(await eraseOf(ports, client, retentionDays)));
  }
  return erased;
}

async function* allClients({ clients }: RetentionPorts): AsyncIterable<Client> {
  for (let after = ""; ; ) {
    const page = await clients.list({ limit: clientsInPage, ...(after !== "" && { after }) });
    yield* page;
    const last = page.at(-1);
    if (!last || page.length < clientsInPage) return;
    after = last.slug;
  }
}

/** A mark says up to which start everything is erased, so that each run is looked at once and not for ever. */
async function eraseOf(ports: RetentionPorts, { slug, erasedUntil }: Client, days: number): Promise<string[]> {
  const end = new Date(ports.clock.now() - days * dayMs).toISOString();
  const erased: string[] = [];
  let mark = end;
  for await (const run of runsOf(ports, slug, erasedUntil, end)) {
    if (!isExpired(run, end)) mark = run.startedAt < mark ? run.startedAt : mark;
    // What ran inside of another one is erased with it.
    else if (!run.parent) {
      await eraseExecution(ports, run);
      erased.push(run.id);
    }
  }
  if (erasedUntil === undefined || mark > erasedUntil) await ports.clients.update(slug, { erasedUntil: mark });
  return erased;
}

function isExpired({ open, endedAt }: Execution, end: string): boolean {
  return !open && endedAt !== undefined && endedAt <= end;
}

async function* runsOf({ executions }: RetentionPorts, client: string, from: string | undefined, to: string) {
  let cursor: string | undefined;
  do {
    const query = { client, to, ...(from !== undefined && { from }), ...(cursor !== undefined && { cursor }) };
    const page = await executions.list(query);
    yield* page.items;
    cursor = page.cursor;
  } while (cursor !== undefined);
}
