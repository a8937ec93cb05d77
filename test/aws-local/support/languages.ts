import { checkPattern, dueAfter, isTimeZone, matchesPattern, parseExpression } from "@nova/workflow";
import type { EventPatterns } from "../../../packages/aws-local/src/events/service.ts";
import type { ScheduleExpressions } from "../../../packages/aws-local/src/schedules/service.ts";

/**
 * NOVA's implementations of event patterns and schedule expressions. A test passes them to the emulators, because the
 * package aws-local does not implement these languages.
 */
export const patterns: EventPatterns = { check: checkPattern, matches: matchesPattern };

export const expressions: ScheduleExpressions = {
  isTimeZone,
  read(text, timeZone) {
    const expression = parseExpression(text, timeZone);
    return expression && { nextAfter: (startMs, afterMs) => dueAfter(expression, startMs, afterMs) };
  },
};
