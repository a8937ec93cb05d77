import type { ServerResponse } from "node:http";
import type { Workflow } from "@nova/workflow";
import type { Visit } from "./admin-client.ts";
import { enterEnvironment, environmentOf } from "./environment.ts";
import type { Keys } from "./keys.ts";
import type { LocalCloud } from "./local-cloud.ts";
import type { Owner } from "./owner-file.ts";
import { servicePorts } from "./service.ts";
import { prepareTemplate } from "./templates.ts";

/**
 * Other processes that use the owner's endpoints, each present as an open connection: one that dies has left, without
 * anybody watching its pid.
 */
export class Guests {
  readonly #present = new Set<ServerResponse>();
  #closed = false;
  #onEmpty: (() => void) | undefined;
  #onDriver: (() => void) | undefined;

  /**
   * False once the owner has said goodbye to the last one: who comes then becomes the next owner. One that `drives`
   * wants executions to go on, and does not only want to know something.
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

  /** Called when one comes that drives. */
  onDriver(call: () => void): void {
    this.#onDriver = call;
  }

  get count(): number {
    return this.#present.size;
  }

  /** Asks everybody to leave: what they wait for has ended, and they may still read what became of it. */
  sayGoodbye(): void {
    for (const connection of this.#present) connection.write("closing\n");
  }

  /**
   * Resolves when the last guest has left, and from that moment nobody is admitted. Until then newcomers are: they
   * could not become owner meanwhile, and would wait for work that is not theirs.
   */
  lastOneLeft(): Promise<void> {
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

/** Uses the endpoints that another process has opened. */
export async function openAsGuest(dataDir: string, keys: Keys, owner: Owner, visit: Visit): Promise<LocalCloud> {
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
    // The owner's sandboxes have had time for it.
    warmed: async () => undefined,
    counters: visit.counters,
    untilEnd: visit.untilEnd,
    // What is at work is so in the owner's process, which answers requests of its own.
    holdWork: () => () => undefined,
    isNeeded: () => false,
    close: async () => visit.leave(),
  };
}
