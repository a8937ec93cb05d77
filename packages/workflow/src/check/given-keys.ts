import { isObject } from "../json/loose.ts";
import type { JsonObject } from "../json/value.ts";
import type { Trigger, TriggerType } from "../trigger.ts";
import type { Workflow } from "../workflow.ts";

/** Keys that are in the context before the first node runs. */
export interface GivenKeys {
  keys: ReadonlySet<string>;
  /** There may be others: nothing is declared, or others are welcome. */
  isOpen: boolean;
}

/** What NOVA puts there itself, in some nodes. */
const fromNova = ["branch_decision", "error", "tasks", "_data_analysis", "_ai_metadata"];

const mail = ["email", "email_from", "email_subject", "email_body", "email_attachments"];
const fromTriggers: Record<TriggerType, readonly string[]> = {
  ...{ mail, imap: mail, webhook: ["webhook"], schedule: ["schedule"], event: ["event"] },
};

export function givenKeys({ inputs, triggers = [] }: Workflow): GivenKeys {
  const declared = isObject(inputs?.properties) ? Object.keys(inputs.properties) : [];
  const keys = [...fromNova, ...declared, ...requiredIn(inputs), ...triggers.flatMap(keysFrom)];
  return { keys: new Set(keys), isOpen: declared.length === 0 || isOpenSchema(inputs) };
}

function requiredIn(inputs: JsonObject | undefined): string[] {
  return Array.isArray(inputs?.required) ? inputs.required.filter((key) => typeof key === "string") : [];
}

function keysFrom(trigger: Trigger): string[] {
  const own = trigger.type === "schedule" ? Object.keys(trigger.context ?? {}) : [];
  return [...fromTriggers[trigger.type], ...own];
}

/** Keys that `properties` does not name are spoken of; merely not to forbid them is not to expect them. */
function isOpenSchema(inputs: JsonObject = {}): boolean {
  const { additionalProperties: more = false } = inputs;
  const others = ["patternProperties", "propertyNames", "unevaluatedProperties", "dependentSchemas", "dependencies"];
  const composed = ["allOf", "anyOf", "oneOf", "if", "$ref", "$dynamicRef"];
  return more !== false || [...others, ...composed].some((word) => Object.hasOwn(inputs, word));
}
