import { localFunctions, toStateMachine } from "@nova/compiler";
import type { Workflow } from "@nova/workflow";
import type { InvokeLambda } from "../../../packages/local/src/lambda-types.ts";
import type { Clock } from "../../../packages/local/src/states/clock.ts";
import { runStateMachine } from "../../../packages/local/src/states/run-state-machine.ts";
import { decisionOf, type Fate, fateOf, type Walk } from "./walk.ts";

interface Payload {
  node: string;
  execution: { id: string };
  scope: string;
  seq: number;
  error?: { Error: string; Cause: string };
}

const execution = { id: "exec_1", workflowId: "sample", version: 1 };

/** Compiles a workflow and executes it with functions that do no more than their contract with the state machine. */
export async function execute(workflow: Workflow, fates: readonly Fate[]): Promise<Walk> {
  const functions = new ScriptedFunctions(workflow, fates);
  const input = { execution, scope: "", seq: 0 };
  const result = await runStateMachine(toStateMachine(workflow), input, { invokeLambda: functions.invoke, clock });
  return { visited: functions.visited, end: result.status === "SUCCEEDED" ? "succeeded" : String(result.error) };
}

class ScriptedFunctions {
  readonly visited: string[] = [];
  readonly #workflow: Workflow;
  readonly #fates: readonly Fate[];

  constructor(workflow: Workflow, fates: readonly Fate[]) {
    this.#workflow = workflow;
    this.#fates = fates;
  }

  readonly invoke: InvokeLambda = async (arn, text) => {
    const payload: Payload = JSON.parse(text);
    const answer =
      arn === localFunctions.runNode
        ? this.#runNode(payload)
        : arn === localFunctions.settleNode
          ? this.#settleNode(payload)
          : { error: payload.error ?? { Error: "NodeFailed", Cause: "no edge fits the decision" } };
    return { ok: true, payload: JSON.stringify(answer) };
  };

  #runNode(payload: Payload): object {
    // The link before is the one of the node before; a second delivery knows no more than the first.
    const isNew = payload.seq === this.visited.length;
    if (isNew) this.visited.push(payload.node);
    this.#assertExpected(payload);
    const fate = this.#fate();
    if (fate.kind === "fails") throw named("NodeFailed", "division by zero");
    if (fate.kind === "closed") throw named("ExecutionClosed", "cancelled");
    if (fate.kind === "unseen" || (fate.kind === "flaky" && isNew)) throw named("Lambda.Unknown", "the Lambda died");
    return this.#outcome();
  }

  #settleNode(payload: Payload): object {
    this.#assertExpected(payload);
    return this.#fate().kind === "fails" ? { ...this.#link(), failed: true } : { ...this.#outcome(), failed: false };
  }

  #outcome(): object {
    const decision = decisionOf(this.#workflow, this.visited.at(-1) as string, this.#fate());
    return { ...this.#link(), summary: {}, ...(decision !== null && { decision }) };
  }

  #link(): object {
    return { execution, scope: "", seq: this.visited.length };
  }

  #fate(): Fate {
    return fateOf(this.#fates, this.visited.length - 1);
  }

  #assertExpected({ node, execution: given, scope, seq }: Payload): void {
    const expected = [this.visited.at(-1), execution.id, "", this.visited.length - 1];
    const got = [node, given.id, scope, seq];
    if (String(got) !== String(expected)) throw named("Unexpected", `got ${got} instead of ${expected}`);
  }
}

function named(name: string, message: string): Error {
  return Object.assign(new Error(message), { name });
}

/** Retries wait for nothing, and no task runs into its timeout. */
const clock: Clock = {
  now: Date.now,
  random: () => 0.5,
  sleep: (ms, signal) => {
    if (ms < 900_000) return Promise.resolve();
    return new Promise((resolve) => signal?.addEventListener("abort", () => resolve(), { once: true }));
  },
};
