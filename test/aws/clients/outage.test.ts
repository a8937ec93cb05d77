import { StoreUnavailable } from "@nova/engine";
import { expect, test, vi } from "vitest";
import {
  isOutage,
  patientRetries,
  reportOutage,
  reportOutageIf,
  retryStream,
} from "../../../packages/aws/src/clients/outage.ts";

const error = (fields: object) => Object.assign(new Error("as the SDK throws it"), fields);

test.each<[string, unknown, boolean]>([
  ["throttling of DynamoDB", error({ name: "ProvisionedThroughputExceededException" }), true],
  ["throttling of S3", error({ name: "SlowDown", $metadata: { httpStatusCode: 503 } }), true],
  ["a server error", error({ $metadata: { httpStatusCode: 500 } }), true],
  ["a refused connection", error({ code: "ECONNREFUSED" }), true],
  ["a timeout", error({ name: "TimeoutError" }), true],
  ["a failed condition", error({ name: "ConditionalCheckFailedException", $metadata: { httpStatusCode: 400 } }), false],
  ["a full disk", error({ code: "ENOSPC" }), false],
  ["no error", "text", false],
])("isOutage recognises %s", (_, thrown, expected) => {
  expect(isOutage(thrown)).toBe(expected);
});

test("an outage keeps its cause", async () => {
  const cause = error({ name: "InternalServerError", $metadata: { httpStatusCode: 500 } });
  const failed = reportOutage("DynamoDB", () => Promise.reject(cause));
  await expect(failed).rejects.toThrow(StoreUnavailable);
  await expect(failed).rejects.toMatchObject({ cause, message: expect.stringContaining("InternalServerError") });
});

test("a full store is reported with its own message, after one request", async () => {
  const cause = error({ message: "the disk is full - free some space", $metadata: { httpStatusCode: 507 } });
  const full = { name: "StoreUnavailable", message: "the disk is full - free some space" };
  await expect(reportOutage("DynamoDB", () => Promise.reject(cause))).rejects.toMatchObject(full);
  const send = vi.fn(() => Promise.reject(cause));
  await expect(retryStream(send)).rejects.toBe(cause);
  expect(send).toHaveBeenCalledOnce();
  const retries = patientRetries();
  const first = await retries.acquireInitialRetryToken("");
  await expect(
    retries.refreshRetryTokenForRetry(first, { error: cause as never, errorType: "SERVER_ERROR" }),
  ).rejects.toBe(cause);
});

test("other errors pass unchanged", async () => {
  const cause = error({ name: "ValidationException" });
  await expect(reportOutage("DynamoDB", () => Promise.reject(cause))).rejects.toBe(cause);
  await expect(reportOutageIf("DynamoDB", () => Promise.reject(cause))).rejects.toBe(cause);
});
