import type { ChildStart } from "../../../packages/aws-local/src/states/asl/host.ts";
import type { RunResult } from "../../aws-local/states/support/run-state-machine.ts";

/** The ARN of the machine itself: its loops continue in a further execution of it. */
export const itself = "arn:itself";
/** Names of executions of workflow nodes that fail. */
const failing = ["fails", "unseen"];
const alreadyExists = "StepFunctions.ExecutionAlreadyExistsException";

/**
 * Simulates Step Functions for workflow nodes and for further executions: a failed execution is over and cannot be
 * started again.
 */
export class Children {
  readonly #failed = new Set<string>();
  readonly #further = new Map<string, Promise<RunResult>>();
  readonly #run: (input: object) => Promise<RunResult>;

  constructor(run: (input: object) => Promise<RunResult>) {
    this.#run = run;
  }

  startExecution = async ({ stateMachineArn, name, input }: ChildStart) => {
    if (this.#failed.delete(name)) throw Object.assign(new Error("it is over"), { name: alreadyExists });
    if (stateMachineArn === itself) this.#further.set(name, this.#run(JSON.parse(input)));
    return { executionArn: name, startedAtMs: 0 };
  };

  executionEnded = async (name: string) => {
    const further = await this.#further.get(name);
    const status = further?.status ?? (failing.includes(name) ? "FAILED" : "SUCCEEDED");
    if (status === "FAILED") this.#failed.add(name);
    const times = { startedAtMs: 0, stoppedAtMs: 0 };
    const ended = { executionArn: name, stateMachineArn: "arn:called", name, status, ...times, input: "{}" };
    return status === "FAILED" ? ended : { ...ended, output: JSON.stringify(further?.output ?? {}) };
  };
}
