import type { Ports } from "@nova/engine";
import type { ServicePorts } from "@nova/service";
import type { Counters } from "./counters.ts";
import type { Listener } from "./progress.ts";

/** The cloud of one data folder, for whoever runs workflows in it. */
export interface LocalCloud {
  /** Whether this process opened the endpoints, or uses another one's. */
  role: "owner" | "guest";
  dataDir: string;
  /** Variables with which any client talks to the endpoints. */
  environment: Record<string, string>;
  ports: Ports;
  /** The same and what the service stores: for whoever asks as the API does. */
  service: ServicePorts;
  /** Resolves when a guest's owner has died; never for an owner. */
  lost: Promise<void>;
  /** Resolves when a guest is asked to leave, and when it has lost its owner. */
  ending: Promise<void>;
  /** The sandbox template of a workflow with these requirements, ready to use. Throws `PythonMissing`. */
  templateFor(requirements: readonly string[]): Promise<string>;
  /** Resolves when sandboxes come with the template's packages imported: before, code waits for its own imports. */
  warmed(): Promise<void>;
  /** What an execution has cost since the endpoints were opened. */
  counters(execution: string): Promise<Counters>;
  /** Resolves when the execution is over and closed. Throws `OwnerGone`. */
  untilEnd(execution: string, listener?: Listener): Promise<void>;
  /**
   * A guest leaves. An owner waits until no guest is left and nothing is at work, then closes the endpoints; with
   * `interrupt` it ends what is at work instead, as interrupted. Executions that wait are parked in the data folder.
   */
  close(options?: { interrupt?: boolean }): Promise<void>;
}
