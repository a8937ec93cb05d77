import type { AuditRecord } from "@nova/client";
import { texts } from "../texts.ts";

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

/** Formats the name of an action for readers: `Run cancelled` for `execution.cancelled`. */
export function formatAction(action: string): string {
  const known: Readonly<Record<string, string>> = texts.audit.actions;
  const words = action.replace("execution", "run").replaceAll(/[._]/g, " ");
  return known[action] ?? words.charAt(0).toUpperCase() + words.slice(1);
}
