import { eraseExpired, removeExpiredSessions } from "@nova/service";
import { logger } from "./app.ts";
import { serviceLambda } from "./service-lambda.ts";

/**
 * In these last milliseconds of the Lambda's time, no erasure starts. The erasure of one run with many items may need
 * this much time.
 */
const lastRunMs = 60_000;
const maxLogged = 50;

/**
 * Erases the contents of runs whose retention has ended, and removes expired sessions, on a schedule. The sweeper
 * cannot do this, because its IAM role may not erase.
 */
export const handler = serviceLambda(async (ports, _event: unknown, _signal, leftMs) => {
  const until = ports.clock.now() + leftMs() - lastRunMs;
  const sessions = await removeExpiredSessions(ports, until);
  const { erased, failed } = await eraseExpired(ports, until);
  const counts = { erased: erased.length, failed: failed.length, sessions: sessions.length };
  if (failed.length > 0) logger.error("runs that cannot be erased", { ...counts, first: failed.slice(0, maxLogged) });
  return counts;
});
