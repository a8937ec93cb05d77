import type { CodeFinding, Compiled, EmitOptions, SentFacts } from "@nova/compiler";
import type { CredentialCipher, CredentialStore, KeysLookedUp, Ports } from "@nova/engine";
import type { Workflow, WorkflowSource } from "@nova/workflow";
import type { AttemptStore, AuditLog, KeyStore, RateStore, Rates, TokenIssuer } from "./access.ts";
import type { Archive, BlobLinks, Eraser, ErasureQueue, FormatSurvey, ProofFiles, UploadStore } from "./archive.ts";
import type { ClientStore, SlotStore, SpendingStore, StatsStore } from "./clients.ts";
import type { DailyCheckStore, LeafStore, RootStore, TimeStamper } from "./roots.ts";
import type { SessionStore } from "./sessions.ts";
import type {
  Bus,
  DeliveryStore,
  EventRules,
  IncomingMail,
  Mailer,
  MailPorts,
  Poster,
  PublishQueue,
  Schedules,
  TriggerStore,
} from "./triggers.ts";
import type { MachineVersions, PublicationStore, WorkflowStates } from "./workflow-states.ts";

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
  triggers: TriggerStore;
  deliveries: DeliveryStore;
  incomingMail: IncomingMail;
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
  mail: MailPorts;
  /** The queue of publications. If absent, the request that publishes a version waits for Step Functions. */
  publishQueue?: PublishQueue;
  /** The queue of erasures. If absent, the request that deletes a client waits until the client is erased. */
  erasureQueue?: ErasureQueue;
  bus: Bus;
  schedules: Schedules;
  eventRules: EventRules;
  /** Sends mails; absent if no sender address is configured. */
  mailer?: Mailer;
  poster: Poster;
  /** Absent if no time-stamp authority is configured. */
  timeStamper?: TimeStamper;
  /** ARNs of the functions that state machines call. */
  functions: NonNullable<EmitOptions["functions"]>;
}
