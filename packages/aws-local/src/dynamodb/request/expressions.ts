import { AwsError } from "../../aws-http/aws-error.ts";
import type { Request } from "../../aws-http/request.ts";
import { invalid } from "../errors.ts";
import { parseCondition, parseProjection, parseUpdate } from "../expressions/parse.ts";
import { Placeholders } from "../expressions/placeholders.ts";
import type { Path } from "../expressions/syntax.ts";
import { Tokens } from "../expressions/tokens.ts";
import type { Table } from "../store/tables.ts";
import { elementsOf } from "../values/key.ts";

const parsers = {
  UpdateExpression: parseUpdate,
  ConditionExpression: parseCondition,
  KeyConditionExpression: parseCondition,
  FilterExpression: parseCondition,
  ProjectionExpression: parseProjection,
};

export type ExpressionField = keyof typeof parsers;

/** The parsed expressions of a request, and all paths in them. */
export type Expressions = { [Field in ExpressionField]?: ReturnType<(typeof parsers)[Field]> } & {
  paths: Partial<Record<ExpressionField, Path[]>>;
};

/** Reads the expressions of a request. A placeholder that no expression uses is an error. */
export function readExpressions(input: Request, fields: readonly ExpressionField[]): Expressions {
  const placeholders = new Placeholders(input);
  const expressions: Record<string, unknown> & Pick<Expressions, "paths"> = { paths: {} };
  for (const field of fields) {
    const text = input.optionalText(field);
    if (text === undefined) continue;
    try {
      const tokens = new Tokens(text, placeholders);
      expressions[field] = parsers[field](tokens);
      tokens.expectEnd();
      expressions.paths[field] = tokens.paths;
    } catch (error) {
      if (!(error instanceof AwsError)) throw error;
      throw invalid(`Invalid ${field}: ${error.message}`);
    }
  }
  placeholders.checkAllUsed();
  return expressions as Expressions;
}

/** Throws if a path leads into a key attribute, which has no parts because it is a text or a number. */
export function checkKeyPaths(table: Table, { paths }: Expressions): void {
  const all = Object.values(paths).flat();
  const heads = new Set(all.filter(({ length }) => length > 1).map(([head]) => head));
  if (heads.size === 0) return;
  const keys = elementsOf(table.key).map(({ name }) => ["Key", name] as const);
  const indexKeys = table.indexes.flatMap(({ key }) => elementsOf(key).map(({ name }) => ["IndexKey", name] as const));
  const [kind, name] = [...keys, ...indexKeys].find((key) => heads.has(key[1])) ?? [];
  if (name === undefined) return;
  const rule = "Key attributes must be scalars; list random access '[]' and map lookup '.' are not allowed";
  throw invalid(`${rule}: ${kind}: ${name}`);
}
