/** What happens in an execution, as its Lambda functions are invoked. */
export interface NodeEvent {
  node: string;
  state: "started" | "succeeded" | "failed";
}

export type Listener = (event: NodeEvent) => void;

/** Enough for every execution that somebody may still wait for. */
const remembered = 10_000;

/** Who waits for which execution, in this process or as a guest. */
export class Progress {
  readonly #listeners = new Map<string, Set<Listener>>();
  readonly #waiting = new Map<string, Set<() => void>>();
  readonly #ended = new Set<string>();

  note(execution: string, event: NodeEvent): void {
    for (const listener of this.#listeners.get(execution) ?? []) listener(event);
  }

  end(execution: string): void {
    this.#ended.add(execution);
    if (this.#ended.size > remembered) this.#forgetOldest();
    for (const resolve of this.#waiting.get(execution) ?? []) resolve();
    this.#waiting.delete(execution);
  }

  /** Resolves when the execution has ended and what follows an end is done; at once where that is so already. */
  async untilEnd(execution: string, listener: Listener = () => {}): Promise<void> {
    if (this.#ended.has(execution)) return;
    const listeners = this.#listeners.get(execution) ?? new Set();
    this.#listeners.set(execution, listeners.add(listener));
    await new Promise<void>((resolve) => {
      this.#waiting.set(execution, (this.#waiting.get(execution) ?? new Set()).add(resolve));
    });
    listeners.delete(listener);
    if (listeners.size === 0) this.#listeners.delete(execution);
  }

  #forgetOldest(): void {
    for (const oldest of this.#ended) {
      this.#ended.delete(oldest);
      return;
    }
  }
}
