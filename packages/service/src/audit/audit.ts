import { monotonicFactory } from "ulid";
import { reaches } from "../access/authenticate.ts";
import type { AuditRecord } from "../ports/audit.ts";
import type { Principal, ServicePorts } from "../ports/index.ts";
import { type Page, type PageQuery, type Range, readPage } from "../ports/page.ts";

const nextId = monotonicFactory();

export type Deed = Pick<AuditRecord, "action" | "client" | "subject"> & Partial<Pick<AuditRecord, "detail">>;

/** Records an action. `by` is null for the operator who sets NOVA up. */
export async function recordDeed(ports: Pick<ServicePorts, "audit" | "clock">, by: Principal | null, deed: Deed) {
  await ports.audit.append(buildDeed(ports, by, deed));
}

/**
 * Builds the record of an action without storing it, because another process may have to complete the action. If two
 * processes append the same record, the audit stores it once.
 */
export function buildDeed(
  { clock }: Pick<ServicePorts, "clock">,
  by: Principal | null,
  { action, client, subject, detail = {} }: Deed,
): AuditRecord {
  const now = clock.now();
  const at = new Date(now).toISOString();
  return { format: 1, id: nextId(now), at, action, by: by?.id ?? null, client, subject, detail };
}

/**
 * Lists records, newest first. Without `client`, it lists all records that the caller may see. For a client that the
 * caller may not see, it lists none.
 */
export async function listAudit(
  { audit }: Pick<ServicePorts, "audit">,
  by: Principal,
  { client = by.client, ...query }: PageQuery & { client?: string | null },
): Promise<Page<AuditRecord>> {
  if (client !== null && !reaches(by, client)) return { items: [] };
  const list = (range: Range) => audit.list({ ...range, client: client ?? undefined });
  return readPage(query, list, ({ id }) => id);
}
