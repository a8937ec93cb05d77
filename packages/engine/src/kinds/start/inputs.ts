import { checkContext, type Finding, finding, type Workflow } from "@nova/workflow";
import { membersOf, nestingOf } from "../../json/text.ts";

/** The same limit as for what code sets; far below what the stacks of Node and Python bear. */
export const deepestNesting = 500;

/** The initial context does not fit the workflow's `inputs`; one finding per misfit. */
export class InputsRefused extends Error {
  override name = "InputsRefused";
  readonly findings: Finding[];

  constructor(findings: Finding[]) {
    super(findings.map(({ message }) => message).join("\n"));
    this.findings = findings;
  }
}

/**
 * Rejects with `InputsRefused`. Keys that come as files are bytes: their schema says nothing about them but that they are
 * there.
 */
export async function refuseMisfits(
  workflow: Pick<Workflow, "inputs">,
  context: string,
  fileKeys: string[],
): Promise<void> {
  const findings = await checkContext(workflow, context, fileKeys);
  if (findings.length > 0) throw new InputsRefused(findings);
  if (nestingOf(context) > deepestNesting) {
    const message = `the context is nested more than ${deepestNesting} levels deep - pass it as text, or as a file`;
    throw new InputsRefused([finding("NOVA506", "$", message)]);
  }
  const keys = [...fileKeys, ...(/\$|\\u0024/.test(context) ? membersOf(context).map(({ key }) => key) : [])];
  const mark = keys.find((key) => key.startsWith("$"));
  if (mark !== undefined) {
    const message = `the context has the key "${mark}" - such keys mark NOVA's references: use another name`;
    throw new InputsRefused([finding("NOVA502", "$", message)]);
  }
}
