import type { WorkflowVersion } from "@nova/engine";
import type { AuditRecord } from "./audit.ts";
import type { WorkflowQuotas } from "./quotas.ts";

/** What changes about a workflow while its versions do not. */
export interface WorkflowState {
  format: 1;
  workflowId: string;
  /** The version that new runs use; absent: the latest. */
  active?: number;
  /** Those that new runs used before, oldest first: the way back of a rollback. */
  before?: number[];
  /** Versions up to this one were deleted; their executions stay readable. */
  deleted?: number;
  /** Versions whose triggers may be real though they are not active, or not real though they are. */
  touched?: number[];
  /** Since it is touched, when the sweeper last had it settled, and how often. */
  handedOver?: HandOver;
  /** There while a deletion is not done: what is written of it once the rest has gone. */
  leaving?: AuditRecord;
  quotas?: WorkflowQuotas;
  paused?: Pauses;
}

/** What is paused: the whole workflow under `*`, a schedule under the id of its trigger. */
export type Pauses = Readonly<Record<string, Paused>>;

export interface Paused {
  /** ISO 8601. */
  at: string;
  /** Id of the key that paused it. */
  by: string;
}

/** What stands together: changed where it is as it was read, and not else. */
export type VersionPointers = Pick<WorkflowState, "active" | "deleted" | "touched">;

/** What it becomes; `leaving` where that is deleted. */
export type MovedPointers = VersionPointers & Pick<WorkflowState, "before" | "leaving">;

export type UnsettledWorkflow = Pick<WorkflowState, "workflowId" | "handedOver"> & { touched: number[] };

export interface WorkflowStates {
  get(workflowId: string): Promise<WorkflowState | undefined>;
  set(workflowId: string, changes: Partial<Pick<WorkflowState, "active" | "deleted" | "quotas">>): Promise<void>;
  /** Changes what is named; false, and nothing changes, where it stands not as in `from` any more. */
  move(workflowId: string, from: VersionPointers, to: MovedPointers): Promise<boolean>;
  /** Replaces what is paused; false, and nothing changes, where it is not as in `from` any more. */
  pause(workflowId: string, from: Pauses, to: Pauses): Promise<boolean>;
  /** Ends the deletion of which this is written, and no later one. */
  endDeletion(workflowId: string, deed: AuditRecord): Promise<void>;
  /** Workflows with versions that are touched; eventually consistent. */
  unsettled(): AsyncIterable<UnsettledWorkflow>;
  /** Nothing where it is settled. */
  recordHandOver(workflowId: string, handedOver: HandOver): Promise<void>;
}

/** What a version is before Step Functions has it. */
type Definition = Pick<
  WorkflowVersion,
  "workflowId" | "version" | "hash" | "workflow" | "template" | "createdAt" | "draftOf"
>;

/** How far a publication is: `ready` ones are versions of the engine, with a state machine. */
export type PublicationState = { status: "publishing" } | { status: "ready" } | { status: "failed"; reason: string };

/** A version on its way to Step Functions. Its number is taken for good, whatever becomes of it. */
export type Publication = Definition & { format: 1; handedOver?: HandOver } & PublicationState;

/** That a publication was given to the queue again: how often, and when last (ISO 8601). */
export interface HandOver {
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
  recordHandOver(name: PublicationName, handedOver: HandOver): Promise<void>;
  /** Ends a publication; of one that is over nothing changes. */
  settle(name: PublicationName, state: Exclude<PublicationState, { status: "publishing" }>): Promise<void>;
  /** Of all workflows that have a publication, those behind `after`; in order. */
  ids(after?: string): AsyncIterable<string>;
  /** Those that are `publishing`, in no order, readable or not; eventually consistent. */
  pending(): AsyncIterable<PendingPublication>;
}

/** Versions of state machines (Step Functions keeps 1,000 of each), by their ARNs. */
export interface MachineVersions {
  /** Of the machine that this version is of, newest first. */
  list(versionArn: string): Promise<string[]>;
  /** Runs on it go on; one that is gone is success. */
  remove(versionArn: string): Promise<void>;
  /** The machine that this version is of, with all others. Its runs are over; one that is gone is success. */
  removeMachine(versionArn: string): Promise<void>;
}
