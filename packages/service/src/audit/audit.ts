import { monotonicFactory } from "ulid";
import { reaches } from "../access/authenticate.ts";
import type { Principal } from "../ports/access.ts";
import type { AuditRecord } from "../ports/audit.ts";
import type { ServicePorts } from "../ports/index.ts";
import { type Page, type PageQuery, type Range, readPage } from "../ports/page.ts";

const nextId = monotonicFactory();

export type Deed = Pick<AuditRecord, "action" | "client" | "subject"> & Partial<Pick<AuditRecord, "detail">>;

/** Writes down who did what; null is whoever set NOVA up. */
export async function recordDeed(
  ports: Pick<ServicePorts, "audit" | "clock">,
  by: Principal | null,
  deed: Deed,
): Promise<void> {
  await ports.audit.append(buildDeed(ports, by, deed));
}

/** What is to be written of a deed that others may have to end: appended twice it is there once. */
export function buildDeed(
  { clock }: Pick<ServicePorts, "clock">,
  by: Principal | null,
  { action, client, subject, detail = {} }: Deed,
): AuditRecord {
  const now = clock.now();
  const at = new Date(now).toISOString();
  return { format: 1, id: nextId(now), at, action, by: by?.id ?? null, client, subject, detail };
}

/** Newest first; about one client, where it or the key names one, and nothing of one that is out of reach. */
export async function listAudit(
  { audit }: Pick<ServicePorts, "audit">,
  by: Principal,
  { client = by.client, ...query }: PageQuery & { client?: string | null },
): Promise<Page<AuditRecord>> {
  if (client !== null && !reaches(by, client)) return { items: [] };
  const list = (range: Range) => audit.list({ ...range, client: client ?? undefined });
  return readPage(query, list, ({ id }) => id);
}
