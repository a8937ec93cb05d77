import type { RunIo } from "../ports/sandboxes.ts";

/** Fires when code that outlives a Lambda has been followed for long enough. */
export type FollowTime = () => AbortSignal;

const followMs = 10_000;

/** Short code ends within this time, and waiting costs little. */
export const tenSeconds: FollowTime = () => AbortSignal.timeout(followMs);

/** The time for which a delivery follows code that may outlive it. It waits until large values on their way have arrived. */
export class Follow {
  readonly signal: AbortSignal;
  readonly #end = new AbortController();
  readonly #over: AbortSignal;
  #underWay = 0;

  constructor(lambda: AbortSignal, time: FollowTime) {
    this.signal = AbortSignal.any([lambda, this.#end.signal]);
    this.#over = time();
    this.#over.addEventListener("abort", () => this.#look(), { once: true });
    this.#look();
  }

  /** Watches the values that pass to and from the code. */
  watch(io: RunIo): RunIo {
    return {
      outputs: (node) => io.outputs(node),
      outputNames: () => io.outputNames(),
      taskUrl: (node) => io.taskUrl(node),
      openBlob: async (ref) => this.#passing(await io.openBlob(ref)),
      storeBlob: (ref, body) => io.storeBlob(ref, this.#passing(body)),
    };
  }

  async *#passing(body: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
    this.#underWay++;
    try {
      yield* body;
    } finally {
      this.#underWay--;
      this.#look();
    }
  }

  #look(): void {
    if (this.#over.aborted && this.#underWay === 0) this.#end.abort();
  }
}
