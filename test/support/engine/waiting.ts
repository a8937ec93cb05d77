import {
  type Answer,
  answerTask,
  type Ports,
  type RequestEvent,
  requestApproval,
  type SettleEvent,
  settleNode,
  type WaitingTask,
} from "@nova/engine";
import type { ApprovalNode, WaitNode, Workflow } from "@nova/workflow";
import { action, flow } from "./flows.ts";
import { atOnce, type Process } from "./scheduler.ts";
import { Story } from "./story.ts";

export const aDaySeconds = 24 * 3600;

export function approval(id: string, options: Partial<ApprovalNode> = {}): ApprovalNode {
  return {
    id,
    type: "approval",
    message: "Go on?",
    choices: ["approved", "rejected"],
    timeoutSeconds: aDaySeconds,
    to: [],
    into: id,
    ...options,
  };
}

export function pause(id: string): WaitNode {
  return { id, type: "wait", for: { kind: "seconds", seconds: 30 } };
}

/** Builds the workflow prepare -> ask -> pay or end, in which `ask` is an approval. `more` has further edges. */
export function asking(options: Partial<ApprovalNode> = {}, more: [string, string, string][] = []): Workflow {
  return flow(
    "asking",
    [action("prepare"), approval("ask", options), action("pay")],
    [
      ["start", "prepare"],
      ["prepare", "ask"],
      ["ask", "pay", "approved"],
      ["ask", "end", "rejected"],
      ["pay", "end"],
      ...more,
    ],
  );
}

/**
 * A story (a run whose calls the test performs one by one) of the workflow `asking`. The run has reached the approval,
 * which becomes entry 2.
 */
export class Asked extends Story {
  readonly ports: Ports = this.world.ports(atOnce);

  async begin(context = "{}"): Promise<this> {
    await this.start(context);
    await this.finish(this.deliver("prepare", 0));
    return this;
  }

  /** Returns the event with which Step Functions calls the function that requests the approval. */
  event(token = "token-1"): RequestEvent {
    return { ...this.settling(), token };
  }

  settling(): Omit<RequestEvent, "token"> {
    const { workflowId, version } = this.world.record(this.id);
    return { execution: { id: this.id, workflowId, version }, scope: "", seq: 1, node: "ask" };
  }

  request(token?: string): Process {
    return this.world.spawn("request", (ports) => requestApproval(ports, this.event(token)));
  }

  answering(choice = "approved", more: Partial<Answer> = {}): Process {
    const answer = { choice, by: "ann", from: "a test", ...more };
    return this.world.spawn("answer", (ports) => answerTask(ports, { execution: this.id, node: "ask", ...answer }));
  }

  expiring(): Process {
    const event: SettleEvent = { ...this.settling(), expired: true };
    return this.world.spawn("expired", (ports) => settleNode(ports, event));
  }

  /** The only task. Throws if there is more than one. */
  get task(): WaitingTask {
    const [task, ...others] = this.world.tasks.all();
    if (!task || others.length > 0) throw new RangeError(`there are ${others.length + (task ? 1 : 0)} tasks`);
    return task;
  }

  get status(): string {
    return this.world.record(this.id).status;
  }

  /** Returns the parsed value of a key after the last entry. */
  async value(key: string): Promise<unknown> {
    const { readTrace } = await import("@nova/engine");
    const { context } = await readTrace(this.ports, this.id);
    return (JSON.parse(context.text) as Record<string, unknown>)[key];
  }
}
