import type { AuditRecord, Schemas } from "@nova/client";

/** Names of the filters of the audit page, which are in the URL. */
export const filterNames = ["client", "action", "by", "text"] as const;

type AuditFilters = Partial<Record<(typeof filterNames)[number], string>>;

/** Stands for the author of records that NOVA's setup wrote before any key existed. */
export const setupActor = "-";

/** Returns whether a record matches the filters that the server does not support. */
export function matchesFilters(record: AuditRecord, { action, by, text }: AuditFilters): boolean {
  if (action !== undefined && record.action !== action) return false;
  if (by !== undefined && (record.by ?? setupActor) !== by) return false;
  if (text === undefined) return true;
  const lowerText = text.toLowerCase();
  return [record.subject, ...Object.values(record.detail)].some((one) => String(one).toLowerCase().includes(lowerText));
}

/** Returns the path of the page that shows the subject of the record; undefined if there is no such page. */
export function findSubjectPath({ action, subject }: AuditRecord): string | undefined {
  if (subject.startsWith("exec_")) return `/runs/${subject}`;
  if (action.startsWith("code.")) return `/code?workflow=${encodeURIComponent(subject)}`;
  if (action === "client.created" || action === "client.changed") return `/clients/${subject}`;
  return undefined;
}

/** Formats the detail of a record in one line, for example `version 2` or `node sum, code_hash 3b3f…`. */
export function formatDetail(detail: AuditRecord["detail"]): string {
  return Object.entries(detail)
    .map(([name, value]) => `${name} ${shortenHash(String(value))}`)
    .join(", ");
}

function shortenHash(value: string): string {
  return /^[0-9a-f]{64}$/.test(value) ? `${value.slice(0, 8)}…` : value;
}

type Stored = Schemas["StoredFormat"];

export function sumByKind(parts: readonly Stored[]): Stored[] {
  const groups = Map.groupBy(parts, ({ entity, format }) => `${entity} ${format}`);
  const sums = Array.from(groups.values(), (same) => {
    return { ...(same[0] as Stored), items: same.reduce((sum, { items }) => sum + items, 0) };
  });
  return sums.sort((a, b) => a.entity.localeCompare(b.entity) || (a.format ?? 0) - (b.format ?? 0));
}
