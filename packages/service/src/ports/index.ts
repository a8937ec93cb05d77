import type { Compiled, EmitOptions } from "@nova/compiler";
import type { CredentialCipher, CredentialStore, KeysLookedUp, Ports } from "@nova/engine";
import type { Workflow, WorkflowSource } from "@nova/workflow";
import type { AttemptStore, KeyStore, RateStore, Rates, TokenIssuer } from "./access.ts";
import type { Archive, Eraser, ErasureQueue, FormatSurvey } from "./archive.ts";
import type { AuditLog } from "./audit.ts";
import type { ClientStore } from "./clients.ts";
import type { DeliveryStore } from "./deliveries.ts";
import type { IncomingMail, Mailer, MailPorts, Poster } from "./mail.ts";
import type { SlotStore, SpendingStore } from "./quotas.ts";
import type { SessionStore } from "./sessions.ts";
import type { StatsStore } from "./stats.ts";
import type { Bus, EventRules, PublishQueue, Schedules, TriggerStore } from "./triggers.ts";
import type { BlobLinks, UploadStore } from "./uploads.ts";
import type { MachineVersions, PublicationStore, WorkflowStates } from "./workflow-states.ts";

/** Sandbox templates, by the workflows that run in them. */
export interface Templates {
  /** Name of the one that has its requirements. Throws `Refused` where they cannot be had. */
  of(workflow: Workflow): Promise<string>;
}

/** Whether queues go on: a laptop that ends holds what waits in them, for its next start. */
export interface Admissions {
  held: boolean;
  /** How many runs of everybody may be at work at once; absent: as many as come. */
  atOnce?: number | undefined;
}

/** What it takes to look after runs: quotas and figures. */
export interface RunHookStores {
  /** Absent: every slot that is free is given. */
  admissions?: Admissions;
  clients: ClientStore;
  workflowStates: WorkflowStates;
  slots: SlotStore;
  spending: SpendingStore;
  stats: StatsStore;
}

/** What a service stores besides what the engine does. */
export interface ServiceStores extends RunHookStores {
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
}

/** The outside world of the service. */
export interface ServicePorts extends Ports, ServiceStores {
  /** Absent: only keys open anything. */
  tokens?: TokenIssuer;
  /** Absent: everybody may ask as often as they like. */
  rates?: Rates;
  templates: Templates;
  /** Checks and compiles what somebody sent, within bounds of time and memory. */
  compile(source: WorkflowSource, options?: EmitOptions): Promise<Compiled>;
  findLookedUpKeys: KeysLookedUp;
  mail: MailPorts;
  /** Absent: whoever publishes waits for Step Functions itself. */
  publishQueue?: PublishQueue;
  /** Absent: whoever deletes a client waits until it is erased. */
  erasureQueue?: ErasureQueue;
  bus: Bus;
  schedules: Schedules;
  eventRules: EventRules;
  /** Absent where no address is set up to send mail from. */
  mailer?: Mailer;
  poster: Poster;
  /** The functions that state machines name. */
  functions: NonNullable<EmitOptions["functions"]>;
}
