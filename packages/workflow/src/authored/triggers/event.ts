import { z } from "zod";
import { optional } from "../normalised.ts";
import { checkEventPattern } from "./check-event.ts";
import { clientField, triggerFields } from "./fields.ts";
import type { TriggerKind } from "./kind.ts";

export const AuthoredEventTrigger = z
  .strictObject({
    ...triggerFields,
    type: z.literal("event").describe("An event fits."),
    pattern: z
      .record(z.string(), z.json(), { error: 'must be an event pattern such as { "source": ["shop"] }' })
      .describe("The EventBridge event pattern that an event has to fit, as in [waits](#waits)."),
    bus: z
      .enum(["nova", "default"], { error: 'must be "nova" or "default"' })
      .describe("NOVA's own bus, or the default one of the account, where AWS's own events are.")
      .prefault("nova"),
    ...clientField,
  })
  .describe("An event on a bus of EventBridge.");
export type AuthoredEventTrigger = z.input<typeof AuthoredEventTrigger>;

export const eventTrigger: TriggerKind<typeof AuthoredEventTrigger> = {
  type: "event",
  schema: AuthoredEventTrigger,
  codes: { pattern: "NOVA125" },
  normalise: ({ bus, client }, id, exactly) => ({
    type: "event",
    id,
    ...optional("client", client),
    pattern: exactly("pattern"),
    bus,
  }),
  check: checkEventPattern,
};
