import type { ExecutionStore } from "@nova/engine";
import type { DevReporter } from "./reporter.ts";

const pauseMs = 1000;
/** The largest share of time for reading the open runs, however many there are. */
const share = 1 / 20;

/** Reports runs that wait for a slot, and their start. Queued runs send no events, so it polls. */
export class QueueWatch {
  readonly #executions: Pick<ExecutionStore, "open">;
  readonly #report: Pick<DevReporter, "queued" | "started">;
  readonly #known = new Map<string, "queued" | "started">();

  constructor(executions: Pick<ExecutionStore, "open">, report: Pick<DevReporter, "queued" | "started">) {
    this.#executions = executions;
    this.#report = report;
  }

  /** Reports newly queued runs, and forgets runs that are over. */
  async look(): Promise<void> {
    const open = new Set<string>();
    for await (const { id, workflowId, status } of this.#executions.open()) {
      open.add(id);
      if (status !== "queued") this.noteStart(id);
      else if (!this.#known.has(id)) {
        this.#known.set(id, "queued");
        this.#report.queued({ execution: id, workflow: workflowId });
      }
    }
    for (const id of this.#known.keys()) if (!open.has(id)) this.#known.delete(id);
  }

  /** Reports the start of a run that was queued, once. */
  noteStart(execution: string): void {
    if (this.#known.get(execution) === "queued") this.#report.started({ execution });
    this.#known.set(execution, "started");
  }

  /** Polls until the result is disposed. */
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
