import type { AttemptStore } from "@nova/service";
import { numbers, optionalTexts, requireFormat, texts } from "./fields.ts";
import { readItem, record, type TableConnection, tableKeys, writeIf } from "./records.ts";

/** Earlier than any lease, so the next request with the key may take over immediately. */
const longAgo = new Date(0).toISOString();

/**
 * Requests with an idempotency key, kept for a day. DynamoDB deletes expired items late, so a new request also replaces
 * an item whose `expiresAt` has passed.
 */
export function createAttemptStore(connection: TableConnection): AttemptStore {
  const attempts = attemptRecord(connection);
  return {
    async begin(attempt, now) {
      const put = attempts
        .put(attempt)
        .where(({ expiresAt }, { lt, notExists }) => `${notExists(expiresAt)} OR ${lt(expiresAt, now / 1000)}`);
      if (await writeIf(put)) return undefined;
      const item = await readItem(attempts.get(attempt));
      // The SDK repeats a put whose answer was lost: the stored attempt is then our own.
      return item && item.id !== attempt.id ? requireFormat(`attempt ${item.id}`, item) : undefined;
    },
    takeOver: (name, since, now) =>
      writeIf(
        attempts
          .patch(name)
          .set({ since: now })
          .where((attempt, { eq, notExists }) => `${eq(attempt.since, since)} AND ${notExists(attempt.made)}`),
      ),
    async finish(name, made) {
      await writeIf(attempts.patch(name).set({ made }));
    },
    async release(name) {
      await writeIf(attempts.patch(name).set({ since: longAgo }));
    },
  };
}

const attemptRecord = record(
  "attempt",
  {
    ...texts("principal", "key", "fingerprint", "id", "since"),
    ...optionalTexts("client", "made"),
    ...numbers("expiresAt"),
  },
  { record: tableKeys("I#{principal}#{key}", "I") },
);
