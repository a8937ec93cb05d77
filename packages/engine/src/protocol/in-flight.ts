/**
 * The runs at whose nodes this process is, also where nobody waits for it any more: until then it may store something.
 * Lives in the memory of one process; on a laptop that is the one of all functions.
 */
export class NodesAtWork {
  readonly #deliveries = new Map<string, number>();

  async during<T>(execution: string, work: () => Promise<T>): Promise<T> {
    this.#count(execution, 1);
    try {
      return await work();
    } finally {
      this.#count(execution, -1);
    }
  }

  /** Ids of executions. */
  get runs(): string[] {
    return Array.from(this.#deliveries.keys());
  }

  #count(execution: string, by: 1 | -1): void {
    const count = (this.#deliveries.get(execution) ?? 0) + by;
    if (count > 0) this.#deliveries.set(execution, count);
    else this.#deliveries.delete(execution);
  }
}
