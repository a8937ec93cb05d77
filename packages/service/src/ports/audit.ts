import type { Range } from "./page.ts";

export const auditActions = [
  "workflow.published",
  "workflow.activated",
  "workflow.deleted",
  "code.approved",
  "code.rejected",
  "workflow.limited",
  "workflow.paused",
  "workflow.resumed",
  "schedule.paused",
  "schedule.resumed",
  "execution.cancelled",
  "execution.restarted",
  "execution.erased",
  "session.created",
  "session.edited",
  "session.run",
  "session.published",
  "session.deleted",
  "task.answered",
  "client.created",
  "client.changed",
  "client.deleted",
  "client.erased",
  "client.exported",
  "credential.set",
  "credential.removed",
  "credentials.rotated",
  "key.created",
  "key.deleted",
] as const;

export type AuditAction = (typeof auditActions)[number];

/** Who did what to what; written once. */
export interface AuditRecord {
  format: 1;
  /** A ULID: they sort by time. */
  id: string;
  /** ISO 8601. */
  at: string;
  action: AuditAction;
  /** Id of the key that did it; null: whoever set NOVA up. */
  by: string | null;
  /** The client that it was about; null: all of them. */
  client: string | null;
  /** Id of the workflow, execution, task, client or key. */
  subject: string;
  /** What else is to be known, such as a version or a choice. */
  detail: Record<string, string | number>;
}

export interface AuditLog {
  /** Nothing happens where it is there already. */
  append(record: AuditRecord): Promise<void>;
  /** Newest first; of one client where it is named. */
  list(query: Range & { client?: string | undefined }): Promise<AuditRecord[]>;
}
