import { AwsError } from "../../aws-http/aws-error.ts";
import type { Request } from "../../aws-http/request.ts";
import { invalid, malformed } from "../errors.ts";
import { admitValue } from "../values/admit.ts";
import type { AttributeValue } from "../values/attribute-value.ts";

const fields = Object.entries({ "#": "ExpressionAttributeNames", ":": "ExpressionAttributeValues" });

/** The values of a request's placeholders. Each placeholder has to occur in at least one expression of the request. */
export class Placeholders {
  readonly #known = new Map<string, unknown>();
  readonly #used = new Set<string>();

  /** Reads the placeholders of a request, and checks their values. */
  constructor(input: Request) {
    for (const [sign, field] of fields) {
      const given = input.map(field);
      if (!given) continue;
      if (Object.keys(given).length === 0) throw invalid(`${field} must not be empty`);
      for (const [key, value] of Object.entries(given)) {
        checkKey(field, sign, key);
        if (sign === ":") checkValue(key, value);
        else if (typeof value !== "string") throw malformed("Start of structure or map found where not expected");
        this.#known.set(key, value);
      }
    }
  }

  value(placeholder: string): AttributeValue {
    return this.#of(placeholder, "value used in expression", "value") as AttributeValue;
  }

  name(placeholder: string): string {
    return this.#of(placeholder, "name used in the document path", "name") as string;
  }

  #of(placeholder: string, what: string, kind: string): unknown {
    const found = this.#known.get(placeholder);
    if (found === undefined) {
      throw invalid(`An expression attribute ${what} is not defined; attribute ${kind}: ${placeholder}`);
    }
    this.#used.add(placeholder);
    return found;
  }

  checkAllUsed(): void {
    if (this.#used.size === this.#known.size) return;
    for (const [sign, field] of fields) {
      const unused = this.#known.keys().filter((key) => key.startsWith(sign) && !this.#used.has(key));
      const keys = [...unused].join(", ");
      if (keys) throw invalid(`Value provided in ${field} unused in expressions: keys: {${keys}}`);
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
