import type { WorkflowVersion } from "@nova/engine";
import type { AuditRecord } from "./audit.ts";
import type { WorkflowQuotas } from "./clients.ts";

/** The mutable state of a workflow; its versions never change. */
export interface WorkflowState {
  format: 1;
  workflowId: string;
  /** The version that new runs use; absent: the latest. */
  active?: number;
  /** Previously active versions, oldest first. A rollback activates the last of them. */
  before?: number[];
  /** Versions up to this number were deleted; their executions stay readable. */
  deleted?: number;
  /**
   * Versions whose triggers may be in the wrong state: set up although the version is inactive, or missing although it
   * is active.
   */
  touched?: number[];
  /** When and how often the sweeper handed the triggers of touched versions to the publisher. */
  handedOver?: HandOver;
  /** The audit record of a deletion in progress. The audit gets it when the deletion is complete. */
  leaving?: AuditRecord;
  quotas?: WorkflowQuotas;
  paused?: Pauses;
}

/**
 * The pauses of a workflow. The key is `*` for a pause of the whole workflow, and the id of the trigger for a pause of
 * a schedule.
 */
export type Pauses = Readonly<Record<string, Paused>>;

export interface Paused {
  at: string;
  by: string;
}

/** Fields that are changed together. The change fails if one of them has changed since it was read. */
export type VersionPointers = Pick<WorkflowState, "active" | "deleted" | "touched">;

/** The new values. Only a deletion sets `leaving`. */
export type MovedPointers = VersionPointers & Pick<WorkflowState, "before" | "leaving">;

export type UnsettledWorkflow = Pick<WorkflowState, "workflowId" | "handedOver"> & { touched: number[] };

export interface WorkflowStates {
  get(workflowId: string): Promise<WorkflowState | undefined>;
  set(workflowId: string, changes: Partial<Pick<WorkflowState, "active" | "deleted" | "quotas">>): Promise<void>;
  /** Replaces the fields if they still have the values of `from`. Returns false if one of them has another value. */
  move(workflowId: string, from: VersionPointers, to: MovedPointers): Promise<boolean>;
  /** Replaces the pauses if they still equal `from`. Returns false if they differ. */
  pause(workflowId: string, from: Pauses, to: Pauses): Promise<boolean>;
  /** Marks the deletion with this audit record as complete. A later deletion of the workflow stays in progress. */
  endDeletion(workflowId: string, deed: AuditRecord): Promise<void>;
  /** Workflows with touched versions; eventually consistent. */
  unsettled(): AsyncIterable<UnsettledWorkflow>;
  /**
   * Records when the triggers were handed to the publisher. Does nothing if the workflow has no touched versions any
   * more.
   */
  recordHandOver(workflowId: string, handedOver: HandOver): Promise<void>;
}

/** The fields of a version that has no state machine yet. */
type Definition = Pick<
  WorkflowVersion,
  "workflowId" | "version" | "hash" | "workflow" | "template" | "createdAt" | "draftOf"
>;

/** `ready`: the version has a state machine and is stored as a version of the workflow, so it can run. */
export type PublicationState = { status: "publishing" } | { status: "ready" } | { status: "failed"; reason: string };

/**
 * A version that waits for its state machine, has its state machine, or has failed. No other version gets the number of
 * a failed version.
 */
export type Publication = Definition & { format: 1; handedOver?: HandOver } & PublicationState;

/** How often, and when last (ISO 8601), a publication was put into the queue again. */
export interface HandOver {
  times: number;
  at: string;
}

export type UnreadyVersion = Extract<Publication, { status: "publishing" | "failed" }>;

export type PublicationName = Pick<Publication, "workflowId" | "version">;

export type PendingPublication = Pick<Publication, "workflowId" | "version" | "createdAt" | "handedOver">;

export interface PublicationStore {
  /** Stores a new publication. Returns false if its version number is taken. */
  create(publication: Publication): Promise<boolean>;
  get(name: PublicationName): Promise<Publication | undefined>;
  latest(workflowId: string): Promise<Publication | undefined>;
  /** Records when the publication was put into the queue again. Does nothing if the publication has ended. */
  recordHandOver(name: PublicationName, handedOver: HandOver): Promise<void>;
  /** Ends the publication. Does nothing if it has ended already. */
  settle(name: PublicationName, state: Exclude<PublicationState, { status: "publishing" }>): Promise<void>;
  ids(after?: string): AsyncIterable<string>;
  /** Publications with the status `publishing`, unsorted, including unreadable ones; eventually consistent. */
  pending(): AsyncIterable<PendingPublication>;
}

/** Versions of state machines, by their ARNs. Step Functions keeps 1,000 of each machine. */
export interface MachineVersions {
  /** Returns all versions of the machine of `versionArn`, newest first. */
  list(versionArn: string): Promise<string[]>;
  /** Removes a version. Its running executions continue. Does nothing if the version is gone. */
  remove(versionArn: string): Promise<void>;
  /**
   * Removes the machine of `versionArn` with all versions. Its executions must have ended. Does nothing if the machine
   * is gone.
   */
  removeMachine(versionArn: string): Promise<void>;
}
