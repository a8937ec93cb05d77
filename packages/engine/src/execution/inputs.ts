import { type Finding, finding, validateInputs, type Workflow } from "@nova/workflow";
import { membersOf, nestingOf, objectText } from "../json/text.ts";

/** The same limit as for what code sets; far below what the stacks of Node and Python bear. */
export const deepestNesting = 500;

type Schema = NonNullable<Workflow["inputs"]>;

/** Keywords of JSON schema whose schemas the same value has to fit. Under `not` and `if` a file is none of what JSON has. */
const lists = new Set(["allOf", "anyOf", "oneOf"]);
const single = new Set(["then", "else"]);

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
 * Throws `InputsRefused`. Keys that come as files are bytes: their schema says nothing about them but that they are
 * there.
 */
export function refuseMisfits({ inputs }: Pick<Workflow, "inputs">, context: string, fileKeys: string[]): void {
  const findings = misfitsOf(inputs, context, fileKeys);
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

/** Where files are given, something stands in their places, so that whatever asks whether a key is there finds it. */
function misfitsOf(inputs: Schema | undefined, context: string, fileKeys: string[]): Finding[] {
  const unread = validateInputs({}, context);
  if (unread.length > 0 || !inputs || fileKeys.length === 0) return validateInputs(inputs ? { inputs } : {}, context);
  const standIns = fileKeys.map((key) => ({ key, json: "null" }));
  const others = membersOf(context).filter(({ key }) => !fileKeys.includes(key));
  return validateInputs({ inputs: freeing(inputs, fileKeys) }, objectText([...others, ...standIns]));
}

/** The schema without what it says about the values of these keys, at every place that speaks of the context itself. */
function freeing(schema: Schema, keys: readonly string[]): Schema {
  const within = (value: unknown): unknown => (isObject(value) ? freeing(value, keys) : value);
  const applied = Object.entries(schema).map(([name, value]) => {
    if (lists.has(name) && Array.isArray(value)) return [name, value.map(within)];
    if (single.has(name)) return [name, within(value)];
    if (name === "dependentSchemas" && isObject(value))
      return [name, Object.fromEntries(Object.entries(value).map(([key, one]) => [key, within(one)]))];
    if (name === "patternProperties" && isObject(value)) return [name, withoutPatternsOf(value, keys)];
    return [name, value];
  });
  const properties = isObject(schema.properties) ? schema.properties : {};
  // `false` says that the key may not be there.
  const freed = keys.filter((key) => properties[key] !== false).map((key) => [key, true]);
  return { ...Object.fromEntries(applied), properties: { ...properties, ...Object.fromEntries(freed) } };
}

function withoutPatternsOf(patterns: Schema, keys: readonly string[]): Schema {
  const kept = Object.entries(patterns).filter(([one]) => !keys.some((key) => new RegExp(one, "u").test(key)));
  return Object.fromEntries(kept);
}

function isObject(value: unknown): value is Schema {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
