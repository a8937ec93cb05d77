import type { IncomingMessage } from "node:http";
import { AwsError } from "./aws-error.ts";
import { notServed } from "./not-served.ts";

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
