import type { Principal } from "../access/principal.ts";
import type { AuditRecord } from "../ports/audit.ts";
import type { ServicePorts } from "../ports/index.ts";
import { type Page, type PageQuery, readPage } from "../ports/page.ts";

/** Newest first; with a key of one client what was about that one. */
export function listAudit(
  { audit }: Pick<ServicePorts, "audit">,
  { client }: Principal,
  query: PageQuery,
): Promise<Page<AuditRecord>> {
  return readPage(
    query,
    (range) => audit.list({ ...range, ...(client !== null && { client }) }),
    ({ id }) => id,
  );
}
