import type { JsonObject, JsonValue, Workflow } from "@nova/workflow";
import type { Context, Slot } from "../context/context.ts";
import { mask, Redactor } from "./redactor.ts";

/** Keys of the initial context that the workflow's `inputs` mark with `secret: true`. */
export function secretKeys({ inputs }: Pick<Workflow, "inputs">): Set<string> {
  const properties = Object.entries((inputs?.properties ?? {}) as JsonObject);
  return new Set(properties.filter(([, schema]) => isObject(schema) && schema.secret === true).map(([key]) => key));
}

/** Knows every string inside the secret keys of this context. */
export function redactorFor(keys: ReadonlySet<string>, context: Context): Redactor {
  const secrets = context
    .slots()
    .flatMap(({ key, json }) => (keys.has(key) ? stringsIn(JSON.parse(json) as JsonValue) : []));
  return new Redactor(secrets);
}

/** What people may see of a context: secret keys masked. */
export function maskSlots(slots: Slot[], keys: ReadonlySet<string>): Slot[] {
  return keys.size === 0
    ? slots
    : slots.map((slot) => (keys.has(slot.key) ? { ...slot, json: JSON.stringify(mask) } : slot));
}

function stringsIn(value: JsonValue): string[] {
  if (typeof value === "string") return [value];
  return value !== null && typeof value === "object" ? Object.values(value).flatMap(stringsIn) : [];
}

function isObject(value: JsonValue | undefined): value is JsonObject {
  return value !== null && typeof value === "object" && !Array.isArray(value);
}
