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
  "task.withdrawn",
  "task.delegated",
  "client.created",
  "client.changed",
  "client.deleted",
  "client.erased",
  "client.exported",
  "credential.set",
  "credential.removed",
  "credentials.rotated",
  "signing_key.rotated",
  "key.created",
  "key.deleted",
] as const;

export type AuditAction = (typeof auditActions)[number];

/** An action of a user or a key; written once. */
export interface AuditRecord {
  format: 1;
  id: string;
  at: string;
  action: AuditAction;
  /** Id of the key that acted; null: the operator who set NOVA up. */
  by: string | null;
  /** The client that the action concerns; null: all clients. */
  client: string | null;
  subject: string;
  detail: Record<string, string | number>;
}

export interface AuditLog {
  /** Stores a record. Does nothing if the record exists. */
  append(record: AuditRecord): Promise<void>;
  /** Lists records, newest first; with `client` only records of that client. */
  list(query: Range & { client?: string | undefined }): Promise<AuditRecord[]>;
}
