import { AwsError } from "../../aws-http/aws-error.ts";
import { invalid, malformed } from "../errors.ts";
import { admitValue } from "../values/admit.ts";
import type { AttributeValue } from "../values/attribute-value.ts";

/** What the placeholders of a request stand for; every one that is given must be used by some expression. */
export class Placeholders {
  readonly #names: Record<string, string>;
  readonly #values: Record<string, AttributeValue>;
  readonly #used = new Set<string>();

  /** Checks the values. */
  constructor(names?: Record<string, unknown>, values?: Record<string, unknown>) {
    for (const [field, given] of Object.entries({
      ExpressionAttributeNames: names,
      ExpressionAttributeValues: values,
    })) {
      if (given && Object.keys(given).length === 0) throw invalid(`${field} must not be empty`);
    }
    for (const key in names) {
      checkKey("ExpressionAttributeNames", "#", key);
      if (typeof names[key] !== "string") throw malformed("Start of structure or map found where not expected");
    }
    for (const key in values) {
      checkKey("ExpressionAttributeValues", ":", key);
      checkValue(key, values[key]);
    }
    this.#names = (names ?? {}) as Record<string, string>;
    this.#values = (values ?? {}) as Record<string, AttributeValue>;
  }

  value(placeholder: string): AttributeValue {
    const value = Object.hasOwn(this.#values, placeholder) ? this.#values[placeholder] : undefined;
    if (!value) throw undefinedPlaceholder("value used in expression", "value", placeholder);
    this.#used.add(placeholder);
    return value;
  }

  name(placeholder: string): string {
    const name = Object.hasOwn(this.#names, placeholder) ? this.#names[placeholder] : undefined;
    if (name === undefined) throw undefinedPlaceholder("name used in the document path", "name", placeholder);
    this.#used.add(placeholder);
    return name;
  }

  checkAllUsed(): void {
    for (const [field, given] of [
      ["ExpressionAttributeNames", this.#names],
      ["ExpressionAttributeValues", this.#values],
    ] as const) {
      const unused = Object.keys(given).filter((key) => !this.#used.has(key));
      if (unused.length === 0) continue;
      throw invalid(`Value provided in ${field} unused in expressions: keys: {${unused.join(", ")}}`);
    }
  }
}

function checkKey(field: string, sign: string, key: string): void {
  if (key.startsWith(sign) && /^.[0-9a-zA-Z_]+$/.test(key)) return;
  throw invalid(`${field} contains invalid key: Syntax error; key: "${key}"`);
}

function checkValue(key: string, value: unknown): void {
  try {
    admitValue(value);
  } catch (error) {
    if (!(error instanceof AwsError) || error.name !== "ValidationException") throw error;
    throw invalid(`ExpressionAttributeValues contains invalid value: ${error.message} for key ${key}`);
  }
}

function undefinedPlaceholder(what: string, kind: string, placeholder: string): Error {
  return invalid(`An expression attribute ${what} is not defined; attribute ${kind}: ${placeholder}`);
}
