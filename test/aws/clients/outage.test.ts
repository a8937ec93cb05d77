import { DynamoDBServiceException } from "@aws-sdk/client-dynamodb";
import { StoreUnavailable } from "@nova/engine";
import { expect, test, vi } from "vitest";
import {
  delayMs,
  isOutage,
  maxAttempts,
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
  [
    "a failed condition, which is no outage",
    error({ name: "ConditionalCheckFailedException", $metadata: { httpStatusCode: 400 } }),
    false,
  ],
  ["a full disk, which is no outage", error({ code: "ENOSPC" }), false],
  ["a thrown text, which is no outage", "text", false],
])("isOutage recognises outages among other errors: %s", (_, thrown, expected) => {
  expect(isOutage(thrown)).toBe(expected);
});

test("the error that reports an outage has the error of the AWS service as its cause", async () => {
  const cause = error({ name: "InternalServerError", $metadata: { httpStatusCode: 500 } });
  const failed = reportOutage("DynamoDB", () => Promise.reject(cause));
  await expect(failed).rejects.toThrow(StoreUnavailable);
  await expect(failed).rejects.toMatchObject({ cause, message: expect.stringContaining("InternalServerError") });
});

test("a full disk of a local store causes an error with the message of the store, after one request", async () => {
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

test("an error that is no outage is thrown unchanged", async () => {
  const cause = error({ name: "ValidationException" });
  await expect(reportOutage("DynamoDB", () => Promise.reject(cause))).rejects.toBe(cause);
  await expect(reportOutageIf("DynamoDB", () => Promise.reject(cause))).rejects.toBe(cause);
});

type Refresh = ReturnType<typeof patientRetries>["refreshRetryTokenForRetry"];
type SdkError = NonNullable<Parameters<Refresh>[1]["error"]>;

const failed = (name: string) =>
  new DynamoDBServiceException({ name, message: name, $metadata: {}, $fault: "server" }) as SdkError;

/** Returns the number of attempts until the retry strategy gives up. */
async function attempts(errorType: "THROTTLING" | "CLIENT_ERROR", name: string, also: string[] = []): Promise<number> {
  const strategy = patientRetries(also);
  let token = await strategy.acquireInitialRetryToken("");
  for (let made = 1; ; made++) {
    try {
      token = await strategy.refreshRetryTokenForRetry(token, { errorType, error: failed(name) });
    } catch (error) {
      expect(error).toHaveProperty("name", name);
      return made;
    }
  }
}

test("the retries of a failed AWS call last between ten and twenty seconds", () => {
  const delays = Array.from({ length: maxAttempts - 1 }, (_, index) => delayMs(index + 1));
  const sum = delays.reduce((total, delay) => total + delay, 0);
  expect(sum).toBeGreaterThan(10_000);
  expect(sum).toBeLessThan(20_000);
  expect(Math.max(...delays)).toBeLessThanOrEqual(3_000);
});

test("an AWS call whose retries fail throws the error of the AWS service", async () => {
  expect(await attempts("THROTTLING", "SlowDown")).toBe(maxAttempts);
});

test("client errors of AWS calls are not retried, except the errors that the caller names", async () => {
  expect(await attempts("CLIENT_ERROR", "ValidationException")).toBe(1);
  expect(await attempts("CLIENT_ERROR", "ConflictException", ["ConflictException"])).toBe(maxAttempts);
});

test("a hundred AWS calls can retry at the same time without using up a shared quota of retries", async () => {
  const strategy = patientRetries();
  const error = { errorType: "THROTTLING", error: failed("SlowDown") } as const;
  const calls = Array.from({ length: 100 }, async () => {
    let token = await strategy.acquireInitialRetryToken("");
    for (let retry = 0; retry < 10; retry++) token = await strategy.refreshRetryTokenForRetry(token, error);
    return token.getRetryCount();
  });
  expect(new Set(await Promise.all(calls))).toEqual(new Set([10]));
});
