/** A statement of a policy, as IAM stores it. */
export interface Statement {
  Sid?: string;
  Effect: "Allow" | "Deny";
  Action: string | string[];
  Resource: string | string[];
  Condition?: Record<string, Record<string, string | string[]>>;
}

/** An access that a request needs: action, resource and condition keys in terms of IAM. */
export interface Access {
  action: string;
  resource: string;
  /** The values of the request by condition key. */
  context: Record<string, string[]>;
}

/**
 * Thrown if a policy has a condition of a type that this check cannot evaluate. The request then counts as not allowed.
 */
export class UnknownCondition extends Error {
  override name = "UnknownCondition";
}

/** Returns the statements that allow the access. Returns none if a statement denies the access. */
export function allowing(statements: readonly Statement[], access: Access): Statement[] {
  const matching = statements.filter((statement) => matches(statement, access));
  return matching.some(({ Effect }) => Effect === "Deny") ? [] : matching;
}

function matches({ Action, Resource, Condition = {} }: Statement, { action, resource, context }: Access): boolean {
  return (
    many(Action).some((one) => like(one.toLowerCase(), action.toLowerCase())) &&
    many(Resource).some((one) => like(one, resource)) &&
    Object.entries(Condition).every(([operator, keys]) =>
      Object.entries(keys).every(([key, values]) => holds(operator, many(values), context[key])),
    )
  );
}

const tests: Record<string, (wanted: string, given: string) => boolean> = {
  StringEquals: (wanted, given) => wanted === given,
  StringLike: like,
  ArnEquals: like,
  ArnLike: like,
  Bool: (wanted, given) => wanted === given,
};

/**
 * Returns whether a condition holds. If the condition lists several values, one matching value is enough (IAM User
 * Guide, "Condition operators").
 */
function holds(text: string, wanted: readonly string[], given: readonly string[] | undefined): boolean {
  const [, quantifier, operator = ""] = /^(?:(ForAllValues|ForAnyValue):)?(\w+)$/.exec(text) ?? [];
  if (operator === "Null") return wanted.includes(String(given === undefined));
  const negated = /^(String|Arn)Not/.test(operator);
  const test = tests[operator.replace(/^(String|Arn)Not/, "$1")];
  if (!test) throw new UnknownCondition(text);
  const fits = (value: string) => wanted.some((one) => test(one, value)) !== negated;
  if (quantifier === "ForAllValues") return (given ?? []).every(fits);
  if (quantifier === "ForAnyValue") return (given ?? []).some(fits);
  // If the request does not have the condition's key, only a negated condition holds.
  return given === undefined ? negated : given.every(fits);
}

/** Matches a pattern in which `*` is any text and `?` is any character. */
function like(pattern: string, text: string): boolean {
  const source = pattern.replaceAll(/[.+^${}()|[\]\\]/g, "\\$&");
  return new RegExp(`^${source.replaceAll("*", ".*").replaceAll("?", ".")}$`, "s").test(text);
}

function many<T>(value: T | T[]): T[] {
  return Array.isArray(value) ? value : [value];
}
