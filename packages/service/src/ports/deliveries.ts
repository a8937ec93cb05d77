import type { TriggerType } from "@nova/workflow";
import type { Range } from "./page.ts";

/** `accepted`: its run is being started; a repeated delivery continues with that run. */
export const deliveryStatuses = ["accepted", "started", "refused", "failed"] as const;

export type DeliveryStatus = (typeof deliveryStatuses)[number];

/** A message, request, event or time that reached a trigger, with or without a run. */
export interface Delivery {
  format: 1;
  /** SHA-256 of workflow, type, trigger, client and `dedupe`. */
  key: string;
  /** `dlv_` and a ULID, so deliveries sort by time. */
  id: string;
  type: TriggerType;
  /** Null if no workflow matches, such as for a mail to an unknown address. */
  workflow: string | null;
  trigger: string | null;
  client: string | null;
  /** ISO 8601. */
  at: string;
  /** The sender, such as the address of a mail. */
  from: string;
  /** A short description, such as the subject of a mail. */
  about: string;
  /** Equal for repeated deliveries of the same: a Message-ID, the id of an event, a time. */
  dedupe: string;
  status: DeliveryStatus;
  /** Reserved when the delivery is accepted; null if there is no run. */
  execution: string | null;
  /** Why there is no run; null if there is one. */
  reason: string | null;
  /** Seconds since the epoch, DynamoDB's time to live. */
  expiresAt: number;
}

/** Must name a workflow or a client: one index of all deliveries would be a single hot partition. */
export interface DeliveryQuery extends Range {
  /** Null: deliveries that match no workflow. */
  workflow?: string | null;
  client?: string | undefined;
  status?: DeliveryStatus;
}

export interface DeliveryStore {
  /** Undefined: the delivery was stored. Otherwise the stored delivery with the same key. */
  begin(delivery: Delivery): Promise<Delivery | undefined>;
  /** Does nothing if the delivery is `started`, or was erased with its client. */
  finish(key: string, outcome: Pick<Delivery, "status" | "execution" | "reason">): Promise<void>;
  /** Newest first. */
  list(query: DeliveryQuery): Promise<Delivery[]>;
}
