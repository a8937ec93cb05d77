import type { ExecutionStore } from "@nova/engine";
import type { Teller } from "./told.ts";

const pauseMs = 1000;
/** However many runs are open: looking for queued ones takes at most so much of the time. */
const share = 1 / 20;

/** Tells of runs that wait for a slot, and when those begin. Nothing comes of them by itself before they do, so it looks. */
export class QueueWatch {
  readonly #executions: Pick<ExecutionStore, "open">;
  readonly #tell: Pick<Teller, "queued" | "begun">;
  readonly #known = new Map<string, "queued" | "begun">();

  constructor(executions: Pick<ExecutionStore, "open">, tell: Pick<Teller, "queued" | "begun">) {
    this.#executions = executions;
    this.#tell = tell;
  }

  /** Tells of those that wait since the last look; what is over is forgotten. */
  async look(): Promise<void> {
    const open = new Set<string>();
    for await (const { id, workflowId, status } of this.#executions.open()) {
      open.add(id);
      if (status !== "queued") this.begins(id);
      else if (!this.#known.has(id)) {
        this.#known.set(id, "queued");
        this.#tell.queued({ execution: id, workflow: workflowId });
      }
    }
    for (const id of this.#known.keys()) if (!open.has(id)) this.#known.delete(id);
  }

  /** A run is at work: of one that waited it is told, once. */
  begins(execution: string): void {
    if (this.#known.get(execution) === "queued") this.#tell.begun({ execution });
    this.#known.set(execution, "begun");
  }

  /** Looks again and again until it is ended. */
  watch(onFailure: (error: unknown) => void): Disposable {
    let timer: NodeJS.Timeout;
    const lookAfter = (ms: number) => {
      timer = setTimeout(async () => {
        const since = performance.now();
        await this.look().catch(onFailure);
        if (!isOver) lookAfter(Math.max(pauseMs, (performance.now() - since) / share));
      }, ms).unref();
    };
    let isOver = false;
    lookAfter(0);
    return {
      [Symbol.dispose]() {
        isOver = true;
        clearTimeout(timer);
      },
    };
  }
}
