import type { OnFailure } from "@nova/workflow";
import type { AuditRecord } from "./audit.ts";
import type { Range } from "./page.ts";
import type { ClientQuotas } from "./quotas.ts";

/** Whoever everything without a client belongs to; there is no record of it, and no quota. */
export const defaultClient = "default";

/** Somebody for whom workflows run. */
export interface Client {
  format: 1;
  slug: string;
  name: string;
  /** Versions of workflows that its runs use, whatever is active. */
  pins: Record<string, number>;
  /** JSON text of an object: what contexts of its runs begin with. */
  variables?: string;
  quotas?: ClientQuotas;
  /** Who hears of its failed runs. */
  onFailure?: OnFailure;
  /** Address that mails about its runs are from; absent or empty: the deployment's. */
  mailFrom?: string;
  /** ISO 8601: of runs that began before, retention has erased the contents. */
  erasedUntil?: string;
  /** ISO 8601. */
  createdAt: string;
  /** There once somebody has deleted it: how far that is. */
  erasing?: Erasing;
}

/** Of what begins for a client that is being erased nothing does. */
export interface Erasing {
  /** Id of the key that asked for it. */
  by: string;
  /** ISO 8601: when it last went on. */
  since: string;
  part: "executions" | "rest";
  cursor?: string;
  /** What is written of its deletion, before anything goes; absent once that is done. */
  deed?: AuditRecord;
  /** ISO 8601: when it was deleted. */
  markedAt?: string;
  /** Runs that this pass has seen. */
  runs?: number;
  /** ISO 8601: when this pass over everything began; absent of one behind which another has to come in any case. */
  passSince?: string;
  /** ISO 8601: nothing is left to do before, but to look once more for what was begun, or at work, before it was deleted. */
  restsUntil?: string;
}

export interface ClientStore {
  /** False when the slug is taken. */
  create(client: Client): Promise<boolean>;
  get(slug: string): Promise<Client | undefined>;
  /** False when there is no such client. */
  update(slug: string, changes: Partial<Omit<Client, "format" | "slug" | "createdAt">>): Promise<boolean>;
  remove(slug: string): Promise<void>;
  /** By slug. */
  list(query: Range): Promise<Client[]>;
}
