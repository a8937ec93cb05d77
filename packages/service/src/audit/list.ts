import { reaches } from "../access/principal.ts";
import type { Principal } from "../ports/access.ts";
import type { AuditRecord } from "../ports/audit.ts";
import type { ServicePorts } from "../ports/index.ts";
import { type Page, type PageQuery, readPage } from "../ports/page.ts";

/**
 * Newest first: what was about one client, where it or the key names one. Of a client that is out of reach there is
 * nothing.
 */
export async function listAudit(
  { audit }: Pick<ServicePorts, "audit">,
  by: Principal,
  { client = by.client, ...query }: PageQuery & { client?: string | null },
): Promise<Page<AuditRecord>> {
  if (client !== null && !reaches(by, client)) return { items: [] };
  return readPage(
    query,
    (range) => audit.list({ ...range, ...(client !== null && { client }) }),
    ({ id }) => id,
  );
}
