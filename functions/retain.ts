import { eraseExpired, removeExpiredSessions } from "@nova/service";
import { logger } from "./app.ts";
import { serviceLambda } from "./service-lambda.ts";

/** What erasing one run with many items may take, behind the time at which no other is begun. */
const lastRunMs = 60_000;
const toldAtMost = 50;

/** On a schedule, apart from the sweeper, which may not erase: contents older than their client keeps them. */
export const handler = serviceLambda(async (ports, _event: unknown, _signal, leftMs) => {
  const until = ports.clock.now() + leftMs() - lastRunMs;
  const sessions = await removeExpiredSessions(ports, until);
  const { erased, failed } = await eraseExpired(ports, until);
  const counts = { erased: erased.length, failed: failed.length, sessions: sessions.length };
  if (failed.length > 0) logger.error("runs that cannot be erased", { ...counts, first: failed.slice(0, toldAtMost) });
  return counts;
});
