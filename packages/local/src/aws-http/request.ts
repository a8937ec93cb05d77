import type { IncomingMessage } from "node:http";
import { isObject, type Json, type JsonObject } from "../json.ts";
import { AwsError, constraint } from "./aws-error.ts";

/** Of the local cloud, in every ARN. */
export const accountId = "000000000000";

/** The body of a request; reading a field checks it. */
export class Request {
  readonly #body: JsonObject;

  constructor(body: JsonObject) {
    this.#body = body;
  }

  text(field: string, maxBytes?: number): string {
    const value = this.optionalText(field, maxBytes);
    if (value === undefined) throw constraint(field, undefined, "must not be null");
    return value;
  }

  /** `maxBytes` in UTF-8 bytes. */
  optionalText(field: string, maxBytes = Number.POSITIVE_INFINITY): string | undefined {
    const value = this.#body[field] ?? undefined;
    if (value === undefined) return undefined;
    if (typeof value !== "string") throw constraint(field, JSON.stringify(value), "must be a string");
    if (Buffer.byteLength(value) <= maxBytes) return value;
    throw constraint(field, `${value.slice(0, 100)}...`, `must have length less than or equal to ${maxBytes}`);
  }

  optionalNumber(field: string): number | undefined {
    const value = this.#body[field] ?? undefined;
    if (value === undefined || typeof value === "number") return value;
    throw constraint(field, JSON.stringify(value), "must be a number");
  }

  flag(field: string, otherwise: boolean): boolean {
    const value = this.#body[field] ?? otherwise;
    if (typeof value !== "boolean") throw constraint(field, JSON.stringify(value), "must be a boolean");
    return value;
  }

  choice<T extends string>(field: string, values: readonly T[]): T | undefined {
    const value = this.optionalText(field);
    if (value === undefined || (values as readonly string[]).includes(value)) return value as T | undefined;
    throw constraint(field, value, `must satisfy enum value set: [${values.join(", ")}]`);
  }

  /** How many results a page holds: 0 and nothing mean 100. */
  pageSize(): number {
    const value = this.#body.maxResults ?? 0;
    if (!Number.isInteger(value)) throw constraint("maxResults", JSON.stringify(value), "must be an integer");
    if ((value as number) > 1000) throw constraint("maxResults", value, "must have value less than or equal to 1000");
    if ((value as number) < 0) throw constraint("maxResults", value, "must have value greater than or equal to 0");
    return (value as number) || 100;
  }

  optionalObject(field: string): JsonObject | undefined {
    const value: Json | undefined = this.#body[field] ?? undefined;
    if (value === undefined || isObject(value)) return value;
    throw constraint(field, JSON.stringify(value), "must be an object");
  }

  list(field: string): Json[] {
    const value = this.#body[field] ?? [];
    if (Array.isArray(value)) return value;
    throw constraint(field, JSON.stringify(value), "must be a list");
  }
}

/** The body of a request, whose fields are checked where they are read. Throws `SerializationException`. */
export function requestOf(body: string): Request {
  try {
    const value: unknown = JSON.parse(body || "{}");
    if (isObject(value as JsonObject)) return new Request(value as JsonObject);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  throw new AwsError("SerializationException", "The body of the request is not a JSON object");
}

/** The operation that the target of a request names: `<api>.<operation>`. Throws `UnknownOperationException`. */
export function operationOf<T>(
  service: string,
  api: string,
  { headers }: IncomingMessage,
  operations: Record<string, T>,
): T {
  const target = String(headers["x-amz-target"] ?? "");
  const name = target.startsWith(`${api}.`) ? target.slice(api.length + 1) : target;
  const operation = Object.hasOwn(operations, name) ? operations[name] : undefined;
  if (operation) return operation;
  const asked = name || "a request without an x-amz-target";
  throw new AwsError("UnknownOperationException", notServed(service, asked, Object.keys(operations)));
}

/** One sentence for an operation that a local server does not have; `served` are the names of those that it has. */
export function notServed(service: string, operation: string, served: readonly string[]): string {
  return `The local ${service} does not serve ${operation}. It serves ${[...served].sort().join(", ")}.`;
}
