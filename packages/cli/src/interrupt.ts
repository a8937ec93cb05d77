import { once } from "node:events";
import { exitCodes } from "./errors.ts";

/** One Ctrl-C can arrive several times: from the terminal, and forwarded by npm or by the Node that started this one. */
const sameWishMs = 300;

/** Ctrl-C, or a signal to end. Who works takes a wish and tidies up; one that nobody takes ends the process. */
export class Interrupt {
  #wishes = 0;
  #taken = 0;
  #lastMs = Number.NEGATIVE_INFINITY;
  readonly #events = new EventTarget();

  constructor() {
    for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => this.#wish());
  }

  /** Whether an end was asked for. */
  get happened(): boolean {
    return this.#wishes > 0;
  }

  /** Resolves at the first wish for an end. */
  async wish(): Promise<void> {
    if (!this.happened) await once(this.#events, "wish");
  }

  /** Resolves at the next wish from now on. */
  async again(): Promise<void> {
    this.#taken = this.#wishes + 1;
    await once(this.#events, "wish");
  }

  #wish(): void {
    const isSame = performance.now() - this.#lastMs < sameWishMs;
    this.#lastMs = performance.now();
    if (isSame) return;
    this.#wishes += 1;
    if (this.#wishes > Math.max(1, this.#taken)) process.exit(exitCodes.interrupted);
    this.#events.dispatchEvent(new Event("wish"));
  }
}
