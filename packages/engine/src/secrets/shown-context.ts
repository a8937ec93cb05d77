import { type Member, objectText, parsedOrNot, RawJson, secretKeys } from "@nova/workflow";
import { mask } from "./redactor.ts";

/** Null if the definition is unknown: then every key may be secret. */
export type SecretKeys = ReadonlySet<string> | null;

export function secretKeysOf(version: { workflow: { inputs?: unknown } } | undefined): SecretKeys {
  return version ? secretKeys(version.workflow) : null;
}

/**
 * Masks the values of secret keys for people. Every answer, trace, diff and session that contains context members uses
 * it.
 */
export function shownContext(members: readonly Member[], secrets: SecretKeys): RawJson {
  return new RawJson(objectText(members.map(({ key, json }) => ({ key, json: shownValue(key, json, secrets) }))));
}

/** One value of a context. A member that is not valid JSON appears as a text. */
export function shownValue(key: string, json: string, secrets: SecretKeys): string {
  if (secrets === null || secrets.has(key)) return JSON.stringify(mask);
  return parsedOrNot(json) === undefined ? JSON.stringify(json) : json;
}
