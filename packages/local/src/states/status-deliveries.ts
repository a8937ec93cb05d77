import type { StatusChange } from "./status-change.ts";

/** As EventBridge: best effort. Whoever must not miss one asks DescribeExecution. */
export class StatusDeliveries {
  readonly #deliver: (change: StatusChange) => void | Promise<void>;
  readonly #onDelivered: () => void;
  readonly #underway = new Set<Promise<void>>();

  constructor(deliver: (change: StatusChange) => void | Promise<void>, onDelivered: () => void) {
    this.#deliver = deliver;
    this.#onDelivered = onDelivered;
  }

  get count(): number {
    return this.#underway.size;
  }

  begin(change: StatusChange): void {
    const delivery = this.#tryTo(change).finally(() => {
      this.#underway.delete(delivery);
      this.#onDelivered();
    });
    this.#underway.add(delivery);
  }

  async settled(): Promise<void> {
    await Promise.all(this.#underway);
  }

  async #tryTo(change: StatusChange): Promise<void> {
    try {
      await this.#deliver(change);
    } catch (error) {
      process.emitWarning(`The status change of execution "${change.name}" was not taken: ${error}`);
    }
  }
}
