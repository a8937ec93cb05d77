import { deliverEvent, type RequestEvent, requestApproval } from "@nova/engine";
import type { JsonObject, WaitNode, Workflow } from "@nova/workflow";
import { action, flow } from "./flows.ts";
import { atOnce, type Process, settled } from "./scheduler.ts";
import { Story } from "./story.ts";

export type EventTerms = Partial<Extract<WaitNode["for"], { kind: "event" }>>;

/**
 * A story (a run whose calls the test performs one by one) of the workflow prepare -> pause -> end, where `pause` waits
 * for an event.
 */
export class EventWait extends Story {
  ports = this.world.ports(atOnce);

  constructor(pattern: JsonObject, terms: EventTerms = {}, more: Partial<Workflow> = {}) {
    const event = { kind: "event", pattern, timeoutSeconds: 3600, into: "news", ...terms } as const;
    const nodes = [action("prepare"), { id: "pause", type: "wait", for: event } satisfies WaitNode];
    const arrows: [string, string][] = [
      ["start", "prepare"],
      ["prepare", "pause"],
      ["pause", "end"],
    ];
    super(flow("waits", nodes, arrows, more));
  }

  async begin(context = "{}"): Promise<this> {
    await this.start(context);
    await this.finish(this.deliver("prepare", 0));
    return this;
  }

  get event(): RequestEvent {
    const { workflowId, version } = this.world.record(this.id);
    return { execution: { id: this.id, workflowId, version }, scope: "", seq: 1, node: "pause", token: "token-1" };
  }

  async wait(): Promise<this> {
    await requestApproval(this.ports, this.event);
    return this;
  }

  /** Delivers an event and returns the ids of the runs that it resumed. */
  async emit(detail: string, envelope = '"source":"crm","id":"event-1"'): Promise<string[]> {
    const tasks = await deliverEvent(this.ports, `{${envelope},"detail":${detail}}`);
    return tasks.map(({ execution }) => execution);
  }

  /** Lets a process make at most `calls` calls. Returns whether the process is still running then. */
  async advance(process: Process, calls: number): Promise<boolean> {
    await settled();
    for (let n = 0; n < calls && !process.isOver; n++) await this.perform(process);
    return !process.isOver;
  }

  /** All stored items of the chain as JSON text. They contain the event that ended the wait. */
  get news(): string {
    return JSON.stringify(Array.from(this.world.chain.places.values()));
  }
}
