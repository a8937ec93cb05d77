import { LRUCache } from "lru-cache";
import { DynamoDbError, invalid, malformed } from "../errors.ts";
import { bindCondition, bindUpdates } from "../expressions/bind.ts";
import { parseCondition, parseProjection, parseUpdate } from "../expressions/parse.ts";
import { Placeholders } from "../expressions/placeholders.ts";
import { type Condition, checkDistinctPaths, type Path, type Update } from "../expressions/syntax.ts";
import type { Input } from "./input.ts";

/** The expressions of a request, ready to be evaluated. */
export interface Expressions {
  UpdateExpression?: Update[];
  ConditionExpression?: Condition;
  KeyConditionExpression?: Condition;
  FilterExpression?: Condition;
  ProjectionExpression?: Path[];
}

export type ExpressionField = keyof Expressions;

const condition = { parse: remembering(parseCondition), bind: bindCondition };
const kinds = {
  UpdateExpression: { parse: remembering(parseUpdate), bind: bindUpdates },
  ConditionExpression: condition,
  KeyConditionExpression: condition,
  FilterExpression: condition,
  ProjectionExpression: { parse: remembering(parseProjection), bind: bindProjection },
} as Record<
  ExpressionField,
  { parse: (text: string) => unknown; bind: (parsed: unknown, by: Placeholders) => unknown }
>;

/** Reads those of the fields that the request has; a placeholder that none of them uses is an error. */
export function readExpressions(input: Input, fields: readonly ExpressionField[]): Expressions {
  const texts = fields.flatMap((field) => {
    const text = input.optionalText(field);
    return text === undefined ? [] : [[field, text] as const];
  });
  const placeholders = readPlaceholders(
    input,
    fields,
    texts.map(([field]) => field),
  );
  const expressions: Partial<Record<ExpressionField, unknown>> = {};
  for (const [field, text] of texts) expressions[field] = readExpression(field, text, placeholders);
  placeholders.checkAllUsed();
  return expressions as Expressions;
}

function readPlaceholders(input: Input, fields: readonly ExpressionField[], given: ExpressionField[]): Placeholders {
  const [names, values] = [input.map("ExpressionAttributeNames"), input.map("ExpressionAttributeValues")];
  if (names && given.length === 0) throw invalid(onlyWith("ExpressionAttributeNames"));
  const withValues: ExpressionField[] = fields.filter((field) => field !== "ProjectionExpression");
  if (values && !given.some((field) => withValues.includes(field))) {
    const nulls = `${withValues.join(" and ")} ${withValues.length > 1 ? "are" : "is"} null`;
    throw invalid(`${onlyWith("ExpressionAttributeValues")}: ${nulls}`);
  }
  if (names && Object.keys(names).length === 0) throw invalid("ExpressionAttributeNames must not be empty");
  if (values && Object.keys(values).length === 0) throw invalid("ExpressionAttributeValues must not be empty");
  for (const name of Object.values(names ?? {})) {
    if (typeof name !== "string") throw malformed("Start of structure or map found where not expected");
  }
  return new Placeholders(names as Record<string, string> | undefined, values);
}

function onlyWith(field: string): string {
  return `${field} can only be specified when using expressions`;
}

function readExpression(field: ExpressionField, text: string, placeholders: Placeholders): unknown {
  try {
    const { parse, bind } = kinds[field];
    return bind(parse(text), placeholders);
  } catch (error) {
    if (!(error instanceof DynamoDbError)) throw error;
    throw invalid(`Invalid ${field}: ${error.message}`);
  }
}

function bindProjection(paths: Path[], placeholders: Placeholders): Path[] {
  const bound = paths.map((path) => placeholders.path(path));
  checkDistinctPaths(bound);
  return bound;
}

/** Clients send the same few expressions for ever; what they differ in is behind placeholders. */
function remembering<T extends object>(parse: (text: string) => T): (text: string) => T {
  const known = new LRUCache<string, T>({ max: 1000, memoMethod: (text) => parse(text) });
  return (text) => known.memo(text);
}
