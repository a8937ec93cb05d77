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

/** An action of a user or a key; written once. */
export interface AuditRecord {
  format: 1;
  /** A ULID, so records sort by time. */
  id: string;
  /** ISO 8601. */
  at: string;
  action: AuditAction;
  /** Id of the key that acted; null: the operator who set NOVA up. */
  by: string | null;
  /** The client that the action concerns; null: all clients. */
  client: string | null;
  /** Id of the workflow, execution, task, client or key. */
  subject: string;
  /** Further facts, such as a version or a choice. */
  detail: Record<string, string | number>;
}

export interface AuditLog {
  /** Does nothing if the record exists. */
  append(record: AuditRecord): Promise<void>;
  /** Newest first; with `client` only records of that client. */
  list(query: Range & { client?: string | undefined }): Promise<AuditRecord[]>;
}
