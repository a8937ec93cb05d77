import type { BlobHome } from "@nova/engine";
import type { Workflow } from "@nova/workflow";

/**
 * A record in its stored form: an item of the table (DynamoDB's JSON, as text), or an object of the bucket by its key.
 * An object has a `text` only if the export replaces the stored content.
 */
export type ArchiveRecord =
  | { kind: "item"; entity: string; item: string }
  | { kind: "object"; key: string; bytes: number; text?: string };

export interface ArchiveQuery {
  client?: string | undefined;
  cursor?: string | undefined;
  /**
   * Removes the parts of a definition that the caller may not see. The result keeps the hash of the complete
   * definition. Absent: nothing is removed.
   */
  seen?: ((workflow: Workflow) => Workflow) | undefined;
}

export interface ArchivePage {
  records: ArchiveRecord[];
  /** The start of the next page; absent on the last page. */
  cursor?: string;
}

/** The owner that an item names: a client, a run, or a version that runs use. At least one is present. */
export interface Claim {
  kind: string;
  client?: string;
  execution?: string;
  version?: { workflow: string; number: number };
  /** Whether the item is in an index of open runs, open tasks, or other unfinished work. */
  isOpen: boolean;
}

/** Reads all stored records for an export, and writes them back. */
export interface Archive {
  /**
   * Returns a page of records. With `client`, these are the client's runs, the proofs of these runs, and the versions
   * that they ran. Without `client`, these are all records.
   */
  page(query: ArchiveQuery): Promise<ArchivePage>;
  /** Returns a URL from which an object can be fetched, for `seconds`. */
  sign(key: string, seconds: number): Promise<string>;
  read(key: string): Promise<AsyncIterable<Uint8Array>>;
  /**
   * Returns the owner that an item names. Returns undefined for an item without a client, and for text that is not an
   * item.
   */
  claim(item: string): Claim | undefined;
  clientOf(execution: string): Promise<string | undefined>;
  hasWorkflow(id: string): Promise<boolean>;
  /** Returns false, and changes nothing, if an item with this key exists. */
  putItem(item: string): Promise<boolean>;
  /** Stores an object. Does nothing if the object exists. */
  putObject(key: string, body: AsyncIterable<Uint8Array>, known: { bytes: number; sha256: string }): Promise<void>;
}

/** A scope of an execution whose items share a partition. */
export interface ErasableScope {
  execution: string;
  scope: string;
}

/** Erases what users stored, and keeps the proof that it existed. Every method can be repeated. */
export interface Eraser {
  /**
   * Erases contents of this scope. Returns other scopes whose contents must be erased, too: items of maps, and
   * executions that nodes ran.
   */
  contents(at: ErasableScope): Promise<ErasableScope[]>;
  /** Erases waiting tasks of an execution with their tokens, and the error text in its record. */
  traces(execution: string): Promise<void>;
  blobs(home: BlobHome): Promise<void>;
  objects(client: string): Promise<void>;
  /**
   * Erases everything else that names a client, except executions and the audit, one part per call. Returns the cursor
   * of the next part.
   */
  rest(client: string, cursor?: string): Promise<string | undefined>;
}

/** The queue of erasures. Each erasure erases a whole client, one `execution` of it, or one deleted `session`. */
export interface ErasureQueue {
  /** An erasure may be enqueued twice. `isAsked`: a user asked for this erasure. */
  enqueue(erasure: { client: string; execution?: string; isAsked?: true; session?: string }): Promise<void>;
}

/**
 * The state of a stored format. `current`: today's format. `older`: an earlier format that is still readable. `newer`:
 * an unreadable format of a later release. `unknown`: the kind of the record is unknown.
 */
export const formatStates = ["current", "older", "newer", "unknown"] as const;

export type FormatState = (typeof formatStates)[number];

/** The number of stored records of one kind and format. */
export interface StoredFormat {
  entity: string;
  /** The number of the format; null for records without a format. */
  format: number | null;
  items: number;
  state: FormatState;
}

export interface FormatPage {
  formats: StoredFormat[];
  cursor?: string | undefined;
}

export interface FormatSurvey {
  page(after?: string): Promise<FormatPage>;
}

/** A file that a user uploads to the bucket through a signed URL. */
export interface Upload {
  format: 1;
  id: string;
  client: string;
  bytes: number;
  type: string;
  /**
   * The SHA-256 of the bytes in hex. Absent if the user did not announce the hash. NOVA then reads the bytes to compute
   * the hash.
   */
  sha256?: string;
  createdAt: string;
  /**
   * When DynamoDB deletes the record (its time to live), in seconds since the epoch. The bytes expire with the record.
   */
  expiresAt: number;
}

export interface UploadTicket {
  url: string;
  method: "PUT";
  /** Headers that the upload must send unchanged, because the signature covers them. */
  headers: Record<string, string>;
}

export interface UploadStore {
  create(upload: Upload): Promise<void>;
  get(id: string): Promise<Upload | undefined>;
  /** Returns a URL that accepts only the announced bytes, and is valid for `seconds`. */
  sign(upload: Upload, seconds: number): Promise<UploadTicket>;
  /**
   * Stores the uploaded bytes as a blob of `home`. Returns undefined if the user has uploaded nothing. Throws
   * `StoreUnavailable` while the bytes are changing.
   */
  place(upload: Upload, home: BlobHome): Promise<{ sha256: string; bytes: number } | undefined>;
}

/** Proof files that are too large for an answer of the API. The bucket keeps them for a day. */
export interface ProofFiles {
  /** Stores the proof file of a run, and returns a signed URL from which it can be fetched for `seconds`. */
  share(run: BlobHome & { execution: string }, body: AsyncIterable<Uint8Array>, seconds: number): Promise<string>;
}

/** Signed URLs for blobs that are too large for an answer of the API. */
export interface BlobLinks {
  /**
   * Returns a URL that serves this blob with this media type, and is valid for `seconds`; undefined if the blob does
   * not exist.
   */
  sign(home: BlobHome, sha256: string, seconds: number, type?: string): Promise<string | undefined>;
}
