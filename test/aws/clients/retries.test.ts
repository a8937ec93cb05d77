import { DynamoDBServiceException } from "@aws-sdk/client-dynamodb";
import { expect, test } from "vitest";
import { delayMs, maxAttempts, patientRetries } from "../../../packages/aws/src/clients/outage.ts";

type Refresh = ReturnType<typeof patientRetries>["refreshRetryTokenForRetry"];
type SdkError = NonNullable<Parameters<Refresh>[1]["error"]>;

const failed = (name: string) =>
  new DynamoDBServiceException({ name, message: name, $metadata: {}, $fault: "server" }) as SdkError;

/** Counts the attempts until the strategy gives up. */
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

test("the retries last between ten and twenty seconds", () => {
  const delays = Array.from({ length: maxAttempts - 1 }, (_, index) => delayMs(index + 1));
  const sum = delays.reduce((total, delay) => total + delay, 0);
  expect(sum).toBeGreaterThan(10_000);
  expect(sum).toBeLessThan(20_000);
  expect(Math.max(...delays)).toBeLessThanOrEqual(3_000);
});

test("the retries end with the service's own error", async () => {
  expect(await attempts("THROTTLING", "SlowDown")).toBe(maxAttempts);
});

test("client errors are not retried, except those named by the caller", async () => {
  expect(await attempts("CLIENT_ERROR", "ValidationException")).toBe(1);
  expect(await attempts("CLIENT_ERROR", "ConflictException", ["ConflictException"])).toBe(maxAttempts);
});

test("a hundred calls can retry at the same time", async () => {
  const strategy = patientRetries();
  const error = { errorType: "THROTTLING", error: failed("SlowDown") } as const;
  const calls = Array.from({ length: 100 }, async () => {
    let token = await strategy.acquireInitialRetryToken("");
    for (let retry = 0; retry < 10; retry++) token = await strategy.refreshRetryTokenForRetry(token, error);
    return token.getRetryCount();
  });
  expect(new Set(await Promise.all(calls))).toEqual(new Set([10]));
});
