import { z } from "zod";
import { defined } from "../defined.ts";
import { contextKey, duration, eventPattern, fanOutFields, filledText, NodeId, nodeFields } from "./fields.ts";
import type { PlainKind } from "./kind.ts";

export const AuthoredWait = z
  .strictObject({
    ...nodeFields,
    type: z.enum(["wait"]).describe("Continues later."),
    seconds: duration("How long: seconds, or `90s`, `15m`, `12h`, `3d`, at most a year.").optional(),
    until: filledText(
      "Until when: an ISO time with its zone (`2026-01-31T09:00:00Z`), or the `{{dot.path}}` of one in the context.",
    ).optional(),
    event: eventPattern(
      "For an event that fits this EventBridge event pattern. `{{dot.path}}` in its texts stands for a value that the context has when the wait begins.",
    ).optional(),
    since: z
      .enum(["start"], { error: 'must be "start"' })
      .describe(
        "With `event`: an event counts that came after the run's start, even before the wait. Absent: it does not.",
      )
      .optional(),
    timeout: duration(
      "With `event`: how long to wait for it, as in `seconds`; then the node fails. Absent: 7d.",
    ).optional(),
    into: contextKey("With `event`: key of the event in the context. Absent: the node's id.").optional(),
    onError: NodeId.describe("Node that continues after a failure of this one, instead of failing the run.").optional(),
    ...fanOutFields,
  })
  .describe(
    "Continues later: after a time, at a time, or with an event. Exactly one of `seconds`, `until` and `event`.",
  );

const aWeekSeconds = 604_800;

export const waitKind: PlainKind<typeof AuthoredWait> = {
  type: "wait",
  schema: AuthoredWait,
  edgesIn: "any",
  edgesOut: "one",
  holds: "nothing",
  codes: {
    seconds: "NOVA409",
    until: "NOVA414",
    event: "NOVA415",
    timeout: "NOVA409",
    into: "NOVA418",
    since: "NOVA413",
  },
  // A check of the node ensures that exactly one of the three is present.
  normalise: ({ seconds = 0, until, event, timeout = aWeekSeconds, into, since, ...same }) => {
    const time = until === undefined ? { kind: "seconds" as const, seconds } : { kind: "until" as const, until };
    if (event === undefined) return defined({ ...same, for: time });
    const waited = { kind: "event" as const, pattern: event, timeoutSeconds: timeout, into: into ?? same.id, since };
    return defined({ ...same, for: defined(waited) });
  },
};
