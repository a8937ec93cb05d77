import type { WorkflowVersion } from "@nova/engine";

/** What a version is before Step Functions has it. */
type Definition = Pick<WorkflowVersion, "workflowId" | "version" | "hash" | "workflow" | "template" | "createdAt">;

/** How far a publication is: `ready` ones are versions of the engine, with a state machine. */
export type PublicationState = { status: "publishing" } | { status: "ready" } | { status: "failed"; reason: string };

/** A version on its way to Step Functions. Its number is taken for good, whatever becomes of it. */
export type Publication = Definition & { format: 1; handedOver?: HandedOver } & PublicationState;

/** That a publication was given to the queue again: how often, and when last (ISO 8601). */
export interface HandedOver {
  times: number;
  at: string;
}

/** A version that no run can use, or not yet. */
export type UnreadyVersion = Extract<Publication, { status: "publishing" | "failed" }>;

export type PublicationName = Pick<Publication, "workflowId" | "version">;

export type PendingPublication = Pick<Publication, "workflowId" | "version" | "createdAt" | "handedOver">;

export interface PublicationStore {
  /** False when this version number is taken. */
  create(publication: Publication): Promise<boolean>;
  get(name: PublicationName): Promise<Publication | undefined>;
  /** The one with the highest number. */
  latest(workflowId: string): Promise<Publication | undefined>;
  /** Of one that is over nothing changes. */
  noteHandedOver(name: PublicationName, handedOver: HandedOver): Promise<void>;
  /** Ends a publication; of one that is over nothing changes. */
  settle(name: PublicationName, state: Exclude<PublicationState, { status: "publishing" }>): Promise<void>;
  /** Of all workflows that have a publication, those behind `after`; in order. */
  ids(after?: string): AsyncIterable<string>;
  /** Those that are `publishing`, in no order, readable or not; eventually consistent. */
  pending(): AsyncIterable<PendingPublication>;
}
