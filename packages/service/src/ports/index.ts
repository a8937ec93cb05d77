import type { CodeFinding, Compiled, EmitOptions, SentFacts } from "@nova/compiler";
import type { CredentialCipher, CredentialStore, KeysLookedUp, Person, Ports } from "@nova/engine";
import type { Workflow, WorkflowSource } from "@nova/workflow";
import type { Archive, BlobLinks, Eraser, ErasureQueue, FormatSurvey, ProofFiles, UploadStore } from "./archive.ts";
import type { AuditLog } from "./audit.ts";
import type { ClientStore, SlotStore, SpendingStore, StatsStore } from "./clients.ts";
import type { Range } from "./page.ts";
import type { DailyCheckStore, LeafStore, RootStore, TimeStamper } from "./roots.ts";
import type { SessionStore } from "./sessions.ts";
import type * as triggers from "./triggers.ts";
import type { MachineVersions, PublicationStore, WorkflowStates } from "./workflow-states.ts";

/** Each role includes the rights of the roles before it. */
export const roles = ["viewer", "runner", "editor", "admin"] as const;

export type Role = (typeof roles)[number];

/** A key of the API. Only a digest of its secret is stored. */
export interface ApiKey {
  format: 1;
  id: string;
  role: Role;
  /** The only client that the key reaches; null: all clients. */
  client: string | null;
  name: string;
  /** The mail address of the person who has the key, in lower case, as an administrator set it. Absent: none. */
  identity?: string;
  /** SHA-256 of the secret, in hex. */
  digest: string;
  createdAt: string;
  /** Id of the key whose holder made this key; null: the operator who set NOVA up. */
  createdBy: string | null;
}

export interface KeyStore {
  /** Stores a new key. Returns false if its id is taken. */
  create(key: ApiKey): Promise<boolean>;
  /** Reads a key. The read is strongly consistent, so a removed key stops working immediately. */
  get(id: string): Promise<ApiKey | undefined>;
  /** Removes a key. Returns false if there was no such key. */
  remove(id: string): Promise<boolean>;
  /** Lists keys, oldest first; with `client` only keys of that client. */
  list(query: Range & { client?: string | undefined }): Promise<ApiKey[]>;
}

/** The caller of a request. */
export interface Principal extends Pick<ApiKey, "id" | "role" | "client" | "name"> {
  /** The person who sends the request. Absent: NOVA has proved no identity. */
  person?: Person;
}

/** Reads tokens of an identity provider. */
export interface TokenIssuer {
  /**
   * Returns the caller; null if the token is from another issuer, has expired, or names no role. Throws
   * `IssuerUnreachable`.
   */
  principalOf(token: string): Promise<Principal | null>;
}

/** The rate limit of requests per key. */
export interface Rates {
  take(by: Pick<Principal, "id" | "client">): Promise<void>;
}

/** Counts the requests of each key, shared by all processes. */
export interface RateStore {
  /** Adds `count` to a window. Returns false, and adds nothing, if the sum would exceed `limit`. */
  add(by: Pick<Principal, "id" | "client">, window: RateWindow, count: number, limit: number): Promise<boolean>;
}

export interface RateWindow {
  /** The start of the window in milliseconds since the epoch. */
  beginsAt: number;
  seconds: number;
}

/** A request with an `Idempotency-Key`. */
export interface Attempt {
  format: 1;
  /** Id of the API key that sent the request. Equal idempotency keys of two API keys never collide. */
  principal: string;
  /** The client of the API key; absent for a key for all clients. */
  client?: string;
  key: string;
  fingerprint: string;
  /**
   * The ULID reserved for the result. A process that takes over an abandoned attempt makes its result with the same
   * ULID.
   */
  id: string;
  /** ISO 8601: when a process last started on the attempt. */
  since: string;
  /** The result as JSON text; absent while the attempt is in progress. */
  made?: string;
  /** When DynamoDB deletes the record (its time to live), in seconds since the epoch. */
  expiresAt: number;
}

export type AttemptName = Pick<Attempt, "principal" | "key">;

export interface AttemptStore {
  /**
   * Stores an attempt and returns undefined. If an attempt with its key exists that has not expired, returns that
   * attempt instead.
   */
  begin(attempt: Attempt, now: number): Promise<Attempt | undefined>;
  /** Takes over an attempt that started at `since`. Returns false if another process has already taken it over. */
  takeOver(name: AttemptName, since: string, now: string): Promise<boolean>;
  /** Stores the result. Does nothing if the attempt was erased with its client. */
  finish(name: AttemptName, made: string): Promise<void>;
  /**
   * Lets the next request take the attempt over immediately. Does nothing if the attempt was erased with its client.
   */
  release(name: AttemptName): Promise<void>;
}

export interface Templates {
  /**
   * Returns the name of the E2B template in which the workflow's requirements are installed. Throws `Refused` if they
   * cannot be installed.
   */
  of(workflow: Workflow): Promise<string>;
}

/**
 * Limits the starts of queued runs. If `held` is true, no queued run starts: a laptop that shuts down sets it, and the
 * queued runs wait for the next start of the laptop's cloud.
 */
export interface Admissions {
  held: boolean;
  /** Maximum number of runs in progress, of all clients together; absent: unlimited. */
  atOnce?: number | undefined;
}

export interface RunHookStores {
  /** Limits the starts of queued runs. If absent, queued runs may take every free slot. */
  admissions?: Admissions;
  clients: ClientStore;
  workflowStates: WorkflowStates;
  slots: SlotStore;
  spending: SpendingStore;
  stats: StatsStore;
  leaves: LeafStore;
}

export interface ServiceStores extends RunHookStores {
  rootStore: RootStore;
  dailyChecks: DailyCheckStore;
  keys: KeyStore;
  audit: AuditLog;
  attempts: AttemptStore;
  rateStore: RateStore;
  triggers: triggers.TriggerStore;
  deliveries: triggers.DeliveryStore;
  incomingMail: triggers.IncomingMail;
  publications: PublicationStore;
  machineVersions: MachineVersions;
  uploads: UploadStore;
  sessions: SessionStore;
  eraser: Eraser;
  archive: Archive;
  formats: FormatSurvey;
  credentialStore: CredentialStore;
  credentialCipher: CredentialCipher;
  blobLinks: BlobLinks;
  proofFiles: ProofFiles;
}

export interface ServicePorts extends Ports, ServiceStores {
  /** Checks the tokens of an identity provider. If absent, only API keys are accepted. */
  tokens?: TokenIssuer;
  /** The rate limit of requests. If absent, requests are not limited. */
  rates?: Rates;
  templates: Templates;
  /** Checks and compiles an untrusted definition within limits of time and memory. */
  compile(source: WorkflowSource, options?: EmitOptions): Promise<Compiled>;
  findLookedUpKeys: KeysLookedUp;
  /** Finds mistakes in the code of a node within limits of time and memory. */
  checkCode(code: string, facts: SentFacts): Promise<CodeFinding[]>;
  mail: triggers.MailPorts;
  /** The queue of publications. If absent, the request that publishes a version waits for Step Functions. */
  publishQueue?: triggers.PublishQueue;
  /** The queue of erasures. If absent, the request that deletes a client waits until the client is erased. */
  erasureQueue?: ErasureQueue;
  bus: triggers.Bus;
  schedules: triggers.Schedules;
  eventRules: triggers.EventRules;
  /** Sends mails; absent if no sender address is configured. */
  mailer?: triggers.Mailer;
  poster: triggers.Poster;
  /** Absent if no time-stamp authority is configured. */
  timeStamper?: TimeStamper;
  /** ARNs of the functions that state machines call. */
  functions: NonNullable<EmitOptions["functions"]>;
}
