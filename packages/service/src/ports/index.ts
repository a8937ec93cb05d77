import type { EmitOptions } from "@nova/compiler";
import type { Ports } from "@nova/engine";
import type { AttemptStore } from "./attempts.ts";
import type { AuditLog } from "./audit.ts";
import type { ClientStore } from "./clients.ts";
import type { KeyStore } from "./keys.ts";
import type { WorkflowStates } from "./workflow-states.ts";

/** Sandbox templates, by the pip lines of the workflows that run in them. */
export interface Templates {
  /** Name of the one that has these requirements. */
  of(requirements: readonly string[]): Promise<string>;
}

/** What a service stores besides what the engine does. */
export interface ServiceStores {
  keys: KeyStore;
  audit: AuditLog;
  clients: ClientStore;
  workflowStates: WorkflowStates;
  attempts: AttemptStore;
}

/** The outside world of the service. */
export interface ServicePorts extends Ports, ServiceStores {
  templates: Templates;
  /** The functions that state machines name; absent: those of a laptop. */
  functions?: NonNullable<EmitOptions["functions"]>;
}
