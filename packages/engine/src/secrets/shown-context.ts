import { type Member, objectText, parsedOrNot, RawJson, secretKeys } from "@nova/workflow";
import { mask } from "./redactor.ts";

/** Null: the definition is not known, so every key may be secret. */
export type SecretKeys = ReadonlySet<string> | null;

export function secretKeysOf(version: { workflow: { inputs?: unknown } } | undefined): SecretKeys {
  return version ? secretKeys(version.workflow) : null;
}

/**
 * A context, or a part of one, as people may see it: the values of secret keys are masked. Every answer that contains a
 * context, and every trace, diff and session, has it from here.
 */
export function shownContext(members: readonly Member[], secrets: SecretKeys): RawJson {
  return new RawJson(objectText(members.map(({ key, json }) => ({ key, json: shownValue(key, json, secrets) }))));
}

/** One value of a context. A member that is stored as JSON and is none is shown as the text that it is. */
export function shownValue(key: string, json: string, secrets: SecretKeys): string {
  if (secrets === null || secrets.has(key)) return JSON.stringify(mask);
  return parsedOrNot(json) === undefined ? JSON.stringify(json) : json;
}
