import { CheckStopped, DeadlineWorker } from "../deadline/deadline-worker.ts";
import { type Finding, finding } from "../findings/finding.ts";
import type { JsonObject, Workflow } from "../workflow.ts";
import { contextProblem } from "./validate.ts";

/**
 * No bound on a schema bounds the time that it takes: one that refers to itself twice doubles the work with each level
 * of the value. Honest ones take milliseconds.
 */
const schemas = new DeadlineWorker({
  name: "schemas",
  address: async () => (await import("./worker.ts")).address,
  deadlineMs: 5_000,
});

/** Whether a run may start with this context: `validateInputs`, in a thread with a deadline. */
export async function checkContext(
  { inputs }: Pick<Workflow, "inputs">,
  contextText: string,
  fileKeys: readonly string[] = [],
): Promise<Finding[]> {
  const problem = contextProblem(contextText);
  if (problem || !inputs) return problem ? [problem] : [];
  try {
    return await schemas.call("validateInputs", inputs, contextText, fileKeys);
  } catch (error) {
    if (!(error instanceof CheckStopped)) throw error;
    const message = `checking the context against the workflow's inputs ${error.message} - simplify the schema, or send less`;
    return [finding("NOVA507", "$", message)];
  }
}

/** `validateData`, in a thread with a deadline. */
export async function checkData(form: JsonObject, text: string): Promise<string[]> {
  try {
    return await schemas.call("validateData", form, text);
  } catch (error) {
    if (!(error instanceof CheckStopped)) throw error;
    return [`checking it ${error.message} - send less, or simplify the form`];
  }
}
