import type { TriggerType } from "@nova/workflow";
import type { Range } from "./page.ts";

/** `accepted`: its run is being started, and whoever delivers it again goes on with that. */
export const deliveryStatuses = ["accepted", "started", "refused", "failed"] as const;

export type DeliveryStatus = (typeof deliveryStatuses)[number];

/** Something that came in for a trigger, whether it started a run or not. */
export interface Delivery {
  format: 1;
  /** SHA-256 of what makes it one: workflow, trigger, client and its own id. */
  key: string;
  /** `dlv_` and a ULID: they sort by time. */
  id: string;
  type: TriggerType;
  /** Null where nobody can say: a mail to an unknown address. */
  workflow: string | null;
  trigger: string | null;
  client: string | null;
  /** ISO 8601. */
  at: string;
  /** The sender, as far as it is known: of a mail its address. */
  from: string;
  /** What it is about, in a few words: the subject of a mail. */
  about: string;
  /** What repeated deliveries of the same have in common: a Message-ID, the id of an event, a time. */
  dedupe: string;
  status: DeliveryStatus;
  /** Reserved when it was accepted; null where there is no run. */
  execution: string | null;
  /** Why there is no run; null where there is one. */
  reason: string | null;
  /** Seconds since the epoch, as DynamoDB's time to live has it. */
  expiresAt: number;
}

/** Names a workflow or a client: no index holds all deliveries, since each would write to its one partition. */
export interface DeliveryQuery extends Range {
  /** Null: what nobody could place. */
  workflow?: string | null;
  client?: string | undefined;
  status?: DeliveryStatus;
}

export interface DeliveryStore {
  /** Undefined: recorded. Otherwise the one that is there under the same key. */
  begin(delivery: Delivery): Promise<Delivery | undefined>;
  /** Nothing happens where it is `started` already, or went with its client. */
  finish(key: string, outcome: Pick<Delivery, "status" | "execution" | "reason">): Promise<void>;
  /** Newest first. */
  list(query: DeliveryQuery): Promise<Delivery[]>;
}
