import type { OnFailure } from "@nova/workflow";
import type { AuditRecord } from "./audit.ts";
import type { Range } from "./page.ts";
import type { ClientQuotas } from "./quotas.ts";

/** The owner of everything without a client. It has no record and no quota. */
export const defaultClient = "default";

/** A customer for whom workflows run. */
export interface Client {
  format: 1;
  slug: string;
  name: string;
  /** Versions that its runs use instead of the active ones, by workflow. */
  pins: Record<string, number>;
  /** JSON text of an object: the initial context of its runs. */
  variables?: string;
  quotas?: ClientQuotas;
  /** Recipients of notices about its failed runs. */
  onFailure?: OnFailure;
  /** Sender address of mails about its runs; absent or empty: the deployment's. */
  mailFrom?: string;
  /** ISO 8601: retention has erased the contents of runs that started before. */
  erasedUntil?: string;
  /** ISO 8601. */
  createdAt: string;
  /** The progress of its deletion; absent until a user deletes it. */
  erasing?: Erasing;
}

/** The progress of erasing a client. New runs of that client execute nothing. */
export interface Erasing {
  /** Id of the key that deleted the client. */
  by: string;
  /** ISO 8601: the time of the last step. */
  since: string;
  part: "executions" | "rest";
  cursor?: string;
  /** The audit record of the deletion. It is written before anything is erased, and then removed here. */
  deed?: AuditRecord;
  /** ISO 8601: when it was deleted. */
  markedAt?: string;
  /** Number of runs that this pass has seen. */
  runs?: number;
  /** ISO 8601: when this pass over everything started; absent: another pass must follow this one. */
  passSince?: string;
  /** ISO 8601: the next pass, which looks for runs that were in progress at the deletion, is not due before. */
  restsUntil?: string;
}

export interface ClientStore {
  /** False if the slug is taken. */
  create(client: Client): Promise<boolean>;
  get(slug: string): Promise<Client | undefined>;
  /** False if there is no such client. */
  update(slug: string, changes: Partial<Omit<Client, "format" | "slug" | "createdAt">>): Promise<boolean>;
  remove(slug: string): Promise<void>;
  /** Sorted by slug. */
  list(query: Range): Promise<Client[]>;
}
