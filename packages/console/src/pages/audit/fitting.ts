import type { AuditRecord } from "@nova/client";

/** What the address says of the list. */
export const filterNames = ["client", "action", "by", "text"] as const;

export type AuditFilters = Partial<Record<(typeof filterNames)[number], string>>;

/** Who did it, where nobody had a key yet. */
export const setupActor = "-";

/** What the server does not look for. */
export function matchesFilters(record: AuditRecord, { action, by, text }: AuditFilters): boolean {
  if (action !== undefined && record.action !== action) return false;
  if (by !== undefined && (record.by ?? setupActor) !== by) return false;
  if (text === undefined) return true;
  const wanted = text.toLowerCase();
  return [record.subject, ...Object.values(record.detail)].some((one) => String(one).toLowerCase().includes(wanted));
}

/** Where the console shows the subject; undefined where it does not. */
export function findSubjectPath({ action, subject }: AuditRecord): string | undefined {
  if (subject.startsWith("exec_")) return `/runs/${subject}`;
  if (action.startsWith("code.")) return `/code?workflow=${encodeURIComponent(subject)}`;
  if (action === "client.created" || action === "client.changed") return `/clients/${subject}`;
  return undefined;
}

/** Detail in one line: `version 2`, `node sum, code_hash 3b3f…`. */
export function formatDetail(detail: AuditRecord["detail"]): string {
  return Object.entries(detail)
    .map(([name, value]) => `${name} ${shortenHash(String(value))}`)
    .join(", ");
}

function shortenHash(value: string): string {
  return /^[0-9a-f]{64}$/.test(value) ? `${value.slice(0, 8)}…` : value;
}
