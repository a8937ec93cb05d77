import type { ServerResponse } from "node:http";
import type { Workflow } from "@nova/workflow";
import type { OwnerConnection } from "./admin-client.ts";
import { enterEnvironment, environmentOf } from "./environment.ts";
import type { Keys } from "./keys.ts";
import type { LocalCloud } from "./local-cloud.ts";
import type { Owner } from "./owner-file.ts";
import { servicePorts } from "./service.ts";
import { prepareTemplate } from "./templates.ts";

/**
 * The processes that use the owner's endpoints. Each guest keeps one connection open, which closes if the guest dies.
 * So the owner need not watch process ids.
 */
export class Guests {
  readonly #present = new Set<ServerResponse>();
  #closed = false;
  #onEmpty: (() => void) | undefined;
  #onDriver: (() => void) | undefined;

  /**
   * Admits a guest. Returns false after the last guest has left, because the next process must become the owner.
   * `drives` is true if the guest wants executions to continue, and not only to read.
   */
  admit(connection: ServerResponse, drives: boolean): boolean {
    if (this.#closed) return false;
    this.#present.add(connection);
    if (drives) this.#onDriver?.();
    connection.once("close", () => {
      this.#present.delete(connection);
      if (this.#present.size === 0) this.#onEmpty?.();
    });
    return true;
  }

  /** Sets the listener that is called when a guest arrives that wants executions to continue. */
  onDriver(call: () => void): void {
    this.#onDriver = call;
  }

  get count(): number {
    return this.#present.size;
  }

  /**
   * Asks all guests to leave. The caller has already ended the executions. Each guest may read results before it
   * leaves.
   */
  askToLeave(): void {
    for (const connection of this.#present) connection.write("closing\n");
  }

  /** Resolves when the last guest has left. After that no guest is admitted: the next process becomes the owner. */
  untilLastLeft(): Promise<void> {
    return new Promise((resolve) => {
      const close = () => {
        this.#closed = true;
        resolve();
      };
      this.#onEmpty = close;
      if (this.#present.size === 0) close();
    });
  }
}

/** Opens the cloud as a guest, which uses the endpoints of the owner's process. */
export async function openAsGuest(
  dataDir: string,
  keys: Keys,
  owner: Owner,
  visit: OwnerConnection,
): Promise<LocalCloud> {
  const environment = environmentOf(dataDir, owner.endpoints, keys);
  enterEnvironment(environment);
  process.env.POWERTOOLS_LOG_LEVEL ??= "SILENT";
  const templateFor = ({ requirements }: Workflow) => prepareTemplate(dataDir, requirements);
  const service = await servicePorts(dataDir, environment, templateFor);
  return {
    role: "guest",
    dataDir,
    environment,
    ports: service,
    service,
    lost: visit.ownerLost,
    ending: visit.ownerEnding,
    templateFor,
    // Resolves at once, because the owner's sandboxes have had time to import packages.
    warmed: async () => undefined,
    counters: visit.counters,
    untilEnd: visit.untilEnd,
    // Does nothing, because only the owner's process runs nodes.
    holdWork: () => () => undefined,
    isNeeded: () => false,
    close: async () => visit.leave(),
  };
}
