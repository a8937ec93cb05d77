import { isObject, type Json, type JsonObject } from "../json.ts";
import { AwsError, constraint, malformed } from "./aws-error.ts";

/** The region in every ARN. */
export const region = "us-east-1";
export const accountId = "000000000000";

export function arnOf(service: string, resource: string): string {
  return `arn:aws:${service}:${region}:${accountId}:${resource}`;
}

export interface Limits {
  least?: number;
  most?: number;
  /** A regular expression that the whole text has to match. */
  pattern?: string;
}

/**
 * The body of a request, or a structure in it. Each method that reads a field checks its type and limits, and throws
 * AWS's error.
 */
export class Request {
  /** The fields as they arrived. */
  readonly fields: JsonObject;
  readonly #path: string;

  constructor(fields: Json | undefined, path = "") {
    if (!isObject(fields)) throw malformed("Unexpected value type in payload");
    this.fields = fields;
    this.#path = path;
  }

  has(name: string): boolean {
    return (this.fields[name] ?? undefined) !== undefined;
  }

  text(name: string, limits?: Limits): string {
    return this.optionalText(name, limits) ?? this.#missing(name);
  }

  /** `limits` count UTF-8 bytes. */
  optionalText(name: string, limits: Limits = {}): string | undefined {
    const value = this.#typed(name, "String", (given) => typeof given === "string");
    if (value === undefined) return undefined;
    if (limits.pattern && !wholePattern(limits.pattern).test(value)) {
      throw this.#refusal(name, value, `must satisfy regular expression pattern: ${limits.pattern}`);
    }
    this.#checkSize(name, "length", Buffer.byteLength(value), limits, () => value);
    return value;
  }

  choice<T extends string>(name: string, options: readonly T[]): T | undefined {
    const value = this.optionalText(name);
    if (value === undefined || (options as readonly string[]).includes(value)) return value as T | undefined;
    throw this.#refusal(name, value, `must satisfy enum value set: [${options.join(", ")}]`);
  }

  neededChoice<T extends string>(name: string, options: readonly T[]): T {
    return this.choice(name, options) ?? this.#missing(name);
  }

  flag(name: string): boolean | undefined {
    return this.#typed(name, "Boolean", (given) => typeof given === "boolean");
  }

  number(name: string, limits: Limits = {}): number | undefined {
    const value = this.#typed(name, "Number", (given) => typeof given === "number");
    if (value !== undefined) this.#checkSize(name, "value", value, limits, () => String(value));
    return value;
  }

  map(name: string): JsonObject | undefined {
    return this.#typed(name, "Map", isObject);
  }

  structure(name: string): Request | undefined {
    const value = this.map(name);
    return value && new Request(value, `${this.#at(name)}.`);
  }

  list(name: string, limits: Limits = {}): Json[] | undefined {
    const value = this.#typed(name, "List", (given) => Array.isArray(given));
    if (value) this.#checkSize(name, "length", value.length, limits, () => JSON.stringify(value));
    return value;
  }

  structures(name: string, limits?: Limits): Request[] | undefined {
    return this.list(name, limits)?.map((element, i) => new Request(element, `${this.#at(name)}.${i + 1}.member.`));
  }

  neededStructures(name: string, limits?: Limits): Request[] {
    return this.structures(name, limits) ?? this.#missing(name);
  }

  /** Creates the error for a request without the field. */
  missing(name: string): AwsError {
    return this.#refusal(name, undefined, "must not be null");
  }

  #missing(name: string): never {
    throw this.missing(name);
  }

  #typed<T extends Json>(name: string, type: string, is: (given: Json) => given is T): T | undefined {
    const value = this.fields[name] ?? undefined;
    if (value === undefined || is(value)) return value;
    throw malformed(`${name} is not of the type ${type}`);
  }

  #checkSize(
    name: string,
    what: string,
    size: number,
    { least = 0, most = Infinity }: Limits,
    show: () => string,
  ): void {
    const rule = size < least ? `greater than or equal to ${least}` : size > most && `less than or equal to ${most}`;
    if (rule) throw this.#refusal(name, show(), `must have ${what} ${rule}`);
  }

  #at(name: string): string {
    return `${this.#path}${name.charAt(0).toLowerCase()}${name.slice(1)}`;
  }

  #refusal(name: string, value: string | undefined, rule: string): AwsError {
    return constraint(this.#at(name), value && value.length > 100 ? `${value.slice(0, 100)}...` : value, rule);
  }
}

/** The compiled patterns of limits. They are constants of this package, so there are few. */
const patterns = new Map<string, RegExp>();

function wholePattern(pattern: string): RegExp {
  const known = patterns.get(pattern) ?? new RegExp(`^${pattern}$`);
  patterns.set(pattern, known);
  return known;
}

/** Parses the body of a request. Fields are checked when they are read. Throws `SerializationException`. */
export function parseRequest(body: string): Request {
  try {
    return new Request(JSON.parse(body || "{}"));
  } catch (error) {
    if (error instanceof SyntaxError) throw malformed("The body of the request is not JSON");
    throw error;
  }
}

/** Adds the fields that a REST service reads from the path and the query to the fields of the body. */
export function withFields(request: Request, more: JsonObject): Request {
  return new Request({ ...request.fields, ...more });
}

/**
 * Reads the operation from the target header, which is `<api>.<operation>`. Returns an empty text if there is no such
 * header.
 */
export function targetOf(api: string, { headers }: { headers: NodeJS.Dict<string | string[]> }): string {
  const target = String(headers["x-amz-target"] ?? "");
  return target.startsWith(`${api}.`) ? target.slice(api.length + 1) : target;
}

/** Finds an operation by its name. Throws `UnknownOperationException`. */
export function findOperation<T>(service: string, name: string, operations: Record<string, T>): T {
  const operation = Object.hasOwn(operations, name) ? operations[name] : undefined;
  if (operation) return operation;
  const asked = name || "a request without an x-amz-target";
  throw new AwsError("UnknownOperationException", describeServed(service, asked, Object.keys(operations)));
}

/** Returns the message for an operation that a local server does not have. `served` are the names of its operations. */
export function describeServed(service: string, operation: string, served: readonly string[]): string {
  return `The local ${service} does not serve ${operation}. It serves ${[...served].sort().join(", ")}.`;
}
