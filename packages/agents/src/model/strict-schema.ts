import { zodResponseFormat } from "openai/helpers/zod";
import { withoutParser } from "./conversation.ts";
import type { AnswerFormat } from "./models.ts";

type AnswerSchema = { name: string; schema: Record<string, unknown>; strict: boolean };

/** Returns the JSON schema of an answer; undefined for an answer in free text. */
export function answerSchema<T>(answer: AnswerFormat<T>): AnswerSchema | undefined {
  if ("schema" in answer)
    return withoutParser(zodResponseFormat(answer.schema, answer.name)).json_schema as AnswerSchema;
  return "json" in answer ? { name: answer.name, schema: answer.json, strict: isStrict(answer.json) } : undefined;
}

/**
 * True if the provider can enforce this JSON schema strictly: every object forbids other keys and requires all of its
 * own. https://developers.openai.com/api/docs/guides/structured-outputs
 */
export function isStrict(schema: unknown): boolean {
  if (Array.isArray(schema)) return schema.every(isStrict);
  if (typeof schema !== "object" || schema === null) return true;
  const { properties, required, additionalProperties, ...rest } = schema as Record<string, unknown>;
  if (properties === undefined) return rest.type !== "object" && Object.values(rest).every(isStrict);
  if (typeof properties !== "object" || properties === null || additionalProperties !== false) return false;
  const needed = new Set(Array.isArray(required) ? required : []);
  const isWhole = Object.keys(properties).every((key) => needed.has(key));
  return isWhole && Object.values(properties).every(isStrict) && Object.values(rest).every(isStrict);
}
