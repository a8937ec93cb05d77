import type { AttemptStore } from "@nova/service";
import { current, numbers, optionalTexts, texts } from "./fields.ts";
import { place, read, record, type TableConnection, writeIf } from "./records.ts";

/** Before every other time. */
const longAgo = new Date(0).toISOString();

/** Requests that may be repeated, for a day. DynamoDB deletes late what has expired, so reading looks at the time too. */
export function createAttemptStore(connection: TableConnection): AttemptStore {
  const attempts = attemptRecord(connection);
  return {
    async begin(attempt, now) {
      const put = attempts
        .put(attempt)
        .where(({ expiresAt }, { lt, notExists }) => `${notExists(expiresAt)} OR ${lt(expiresAt, now / 1000)}`);
      if (await writeIf(put)) return undefined;
      const item = await read(attempts.get(attempt));
      // The SDK repeats a put that was lost on its way back: then the attempt that stands in the way is this one.
      return item && item.id !== attempt.id ? current(`attempt ${item.id}`, item) : undefined;
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
    /** The table's time to live, seconds since the epoch. */
    ...numbers("expiresAt"),
  },
  { record: place("I#{principal}#{key}", "I") },
);
