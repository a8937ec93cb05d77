import type { Execution, StateMachineRun, WaitingTask } from "@nova/engine";
import type { ServicePorts } from "@nova/service";

/** A part of the service that a sweep reads. */
export type SweptPart = "runs" | "tasks" | "queues" | "sandboxes" | "publications" | "triggers" | "erasures";

/** The ports that a sweep needs, in memory. Any other port is undefined, so its use fails. */
export class SweepWorld {
  now = Date.parse("2026-01-01T12:00:00Z");
  readonly records: Execution[] = [];
  readonly tasks: WaitingTask[] = [];
  /** Names of the executions that the call ListExecutions returns. */
  readonly running = new Set<string>();
  /** The parts that the sweep reached, and the sweep's calls of Step Functions, in order. */
  readonly log: string[] = [];
  /** Parts whose reading fails. */
  readonly away = new Set<SweptPart>();
  /** Milliseconds that each call of DescribeExecution takes. */
  describeMs = 0;

  record(id: string, more: Partial<Execution> = {}): void {
    const startedAt = new Date(this.now - 60_000).toISOString();
    const named = { format: 1, id, workflowId: "greet", version: 1, client: "acme", root: id } as const;
    this.records.push({ ...named, stateMachineArn: "arn:1", startedAt, status: "running", open: true, ...more });
  }

  ports(): ServicePorts {
    const tip = { entry: { head: '{"node_id":"a","node_type":"code","status":"success"}' } };
    const ports = {
      clock: { now: () => this.now, sleep: async () => undefined },
      executions: {
        open: () => this.#read("runs", this.records),
        idle: () => Array.fromAsync(this.#read("sandboxes", [])),
      },
      sandboxes: { count: async () => 3 },
      chain: { tip: async () => [tip] },
      stateMachines: {
        running: async (arn: string) => this.#list(arn),
        describe: async (_arn: string, id: string) => this.#describe(id),
      },
      tasks: { pending: () => this.#read("tasks", this.tasks) },
      slots: { pools: () => this.#read("queues", []) },
      publications: { pending: () => this.#read("publications", []) },
      workflowStates: { unsettled: () => this.#read("triggers", []) },
      clients: { list: async () => Array.fromAsync(this.#read("erasures", [])) },
    };
    return ports as unknown as ServicePorts;
  }

  async *#read<T>(part: SweptPart, all: T[]): AsyncGenerator<T> {
    // The part `queues` also reads the runs, so that only the first read of the runs counts as the part `runs`.
    if (this.log[0] !== part) this.log.push(part);
    if (this.away.has(part)) throw new TypeError(`${part} are away`);
    yield* all;
  }

  #list(arn: string): ReadonlySet<string> {
    this.log.push(`list ${arn}`);
    return this.running;
  }

  #describe(id: string): StateMachineRun {
    this.log.push(`describe ${id}`);
    this.now += this.describeMs;
    return { status: "running" };
  }
}
