import { isObject, type JsonObject } from "../json.ts";
import { AwsError } from "./aws-error.ts";
import { Request } from "./request.ts";

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
