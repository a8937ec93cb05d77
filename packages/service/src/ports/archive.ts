import type { BlobHome } from "@nova/engine";
import type { Workflow } from "@nova/workflow";

/** What is stored, as it is stored: an item of the table (DynamoDB's JSON, as text), or an object of the bucket by name,
 * with its text where that is not what is stored. */
export type ArchiveRecord =
  | { kind: "item"; entity: string; item: string }
  | { kind: "object"; key: string; bytes: number; text?: string };

export interface ArchiveQuery {
  client?: string | undefined;
  cursor?: string | undefined;
  /** What is left of a definition; it stands under the hash of that, as whole ones do. Absent: all of it. */
  seen?: ((workflow: Workflow) => Workflow) | undefined;
}

export interface ArchivePage {
  /** A page may be empty and not the last. */
  records: ArchiveRecord[];
  /** There while there is more. */
  cursor?: string;
}

/** Whose an item is by its own words: of one client, of a run, or of a version that runs name; at least one is there. */
export interface Claim {
  kind: string;
  client?: string;
  execution?: string;
  version?: { workflow: string; number: number };
  /** It is in an index of what has not ended. */
  isOpen: boolean;
}

/** All that is stored, to be taken away and brought back. */
export interface Archive {
  /** Of one client: its runs with all that they are proven by, and the versions that they ran; else everything. */
  page(query: ArchiveQuery): Promise<ArchivePage>;
  /** An address under which an object can be fetched, for `seconds`. */
  sign(key: string, seconds: number): Promise<string>;
  read(key: string): Promise<AsyncIterable<Uint8Array>>;
  /** Undefined for an item that is no client's, and for what is no item. */
  claim(item: string): Claim | undefined;
  /** The client of an execution that is stored. */
  clientOf(execution: string): Promise<string | undefined>;
  /** Whether a version of a workflow is stored. */
  hasWorkflow(id: string): Promise<boolean>;
  /** False when an item of this key is there: it stays. */
  putItem(item: string): Promise<boolean>;
  /** Of an object that is there nothing changes. */
  putObject(key: string, body: AsyncIterable<Uint8Array>, known: { bytes: number; sha256: string }): Promise<void>;
}

/** A scope whose items lie together, of an execution. */
export interface ErasableScope {
  execution: string;
  scope: string;
}

/** Takes away what people stored, and leaves what proves that it was there. Everything may be done twice. */
export interface Eraser {
  /** Contents that lie with this scope; answers where more lies: items of maps, executions that nodes ran. */
  contents(at: ErasableScope): Promise<ErasableScope[]>;
  /** What an execution waited for, with its tokens, and in its record the words of its error. */
  traces(execution: string): Promise<void>;
  blobs(home: BlobHome): Promise<void>;
  objects(client: string): Promise<void>;
  /** All else that names a client, but executions and audit: a part of the table; answers where to go on. */
  rest(client: string, cursor?: string): Promise<string | undefined>;
}

/** Clients that wait to be erased; with `execution` a run that began while its client was, or that somebody asks for;
 * with `session` one that was deleted. */
export interface ErasureQueue {
  /** The same one may come twice. */
  enqueue(erasure: { client: string; execution?: string; isAsked?: true; session?: string }): Promise<void>;
}

/** `current`: written so today; `older`: still read; `newer`: of a later release, unreadable; `unknown`: no kind. */
export const formatStates = ["current", "older", "newer", "unknown"] as const;

export type FormatState = (typeof formatStates)[number];

/** Records of one kind and format that are stored. */
export interface StoredFormat {
  entity: string;
  /** Null where they have none. */
  format: number | null;
  items: number;
  state: FormatState;
}

export interface FormatPage {
  formats: StoredFormat[];
  /** Where the next page begins. */
  cursor?: string | undefined;
}

export interface FormatSurvey {
  /** Reads a megabyte of the table. */
  page(after?: string): Promise<FormatPage>;
}
