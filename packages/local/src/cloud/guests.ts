import type { ServerResponse } from "node:http";

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
