import { type Finding, finding, validateInputs, type Workflow } from "@nova/workflow";
import { membersOf, nestingOf } from "../json/text.ts";

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

/** Throws `InputsRefused`. Keys that come as files are bytes: their schema says nothing about them but that they are there. */
export function refuseMisfits({ inputs }: Pick<Workflow, "inputs">, context: string, fileKeys: string[]): void {
  const findings = validateInputs(inputs ? { inputs: withoutKeys(inputs, new Set(fileKeys)) } : {}, context);
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

function withoutKeys(inputs: NonNullable<Workflow["inputs"]>, keys: Set<string>): NonNullable<Workflow["inputs"]> {
  if (keys.size === 0) return inputs;
  const { properties, required, ...rest } = inputs;
  const kept = Object.entries((properties ?? {}) as NonNullable<Workflow["inputs"]>).filter(([key]) => !keys.has(key));
  const needed = Array.isArray(required) ? required.filter((key) => !keys.has(String(key))) : [];
  return { ...rest, properties: Object.fromEntries(kept), required: needed };
}
