import { DeadlineWorker } from "../deadline/deadline-worker.ts";
import { type Finding, finding } from "../findings/finding.ts";
import { textOfJson, type WrittenJson } from "../json/exact.ts";
import type { Workflow } from "../workflow.ts";
import { contextProblem, validateData, validateInputs } from "./validate.ts";

/** Runs checks with a deadline: if a schema refers to itself twice, each level of a value doubles the work. */
const schemas = new DeadlineWorker({
  name: "schemas",
  address: async () => (await import("./worker.ts")).address,
  deadlineMs: 5_000,
});

const quickSchema = 10_000;
const quickWork = 2_000_000;

/**
 * Returns true if the check takes less time than starting a thread. Only references, patterns and size make a check
 * slow.
 */
function isQuick(schema: WrittenJson, valueText: string): boolean {
  const text = textOfJson(schema);
  if (text.length > quickSchema || text.length * valueText.length > quickWork) return false;
  return !/"(\$\w*ref|pattern|patternProperties)":/i.test(text);
}

/** Checks whether a run may start with this context: `validateInputs` with a deadline. */
export async function checkContext(
  { inputs }: Pick<Workflow, "inputs">,
  contextText: string,
  fileKeys: readonly string[] = [],
): Promise<Finding[]> {
  const problem = contextProblem(contextText);
  if (problem || !inputs) return problem ? [problem] : [];
  if (isQuick(inputs, contextText)) return validateInputs(inputs, contextText, fileKeys);
  const stopped = (why: string) => {
    const message = `checking the context against the workflow's inputs ${why} - simplify the schema, or send less`;
    return [finding("NOVA507", "$", message)];
  };
  return schemas.callOr(stopped, "validateInputs", inputs, contextText, fileKeys);
}

export async function checkData(form: WrittenJson, text: string): Promise<string[]> {
  if (isQuick(form, text)) return validateData(form, text);
  const stopped = (why: string) => [`checking it ${why} - send less, or simplify the form`];
  return schemas.callOr(stopped, "validateData", form, text);
}
