import { z } from "zod";
import { defined } from "../../defined.ts";
import { checkPattern } from "../../event-pattern/pattern.ts";
import { type Finding, finding } from "../../findings/finding.ts";
import { at } from "../../findings/text.ts";
import type { WrittenPlace } from "../../findings/written.ts";
import { isObject, type JsonObject } from "../../json/value.ts";
import { eventPattern } from "../fields.ts";
import { clientField, type TriggerKind, triggerFields } from "./kind.ts";

export const AuthoredEventTrigger = z
  .strictObject({
    ...triggerFields,
    type: z.literal("event").describe("An event fits."),
    pattern: eventPattern("The EventBridge event pattern that an event has to fit, as in [waits](#waits)."),
    bus: z
      .enum(["nova", "default"], { error: 'must be "nova" or "default"' })
      .describe("NOVA's own bus, or the default one of the account, where AWS's own events are.")
      .prefault("nova"),
    ...clientField,
  })
  .describe("An event on a bus of EventBridge.");

export const eventTrigger: TriggerKind<typeof AuthoredEventTrigger> = {
  schema: AuthoredEventTrigger,
  codes: { pattern: "NOVA125" },
  normalise: (same, id, exactly) => defined({ ...same, id, pattern: exactly("pattern") }),
  check: checkEventPattern,
};

function* checkEventPattern({ pattern }: Record<string, unknown>, { name, path }: WrittenPlace): Iterable<Finding> {
  if (!isObject(pattern)) return;
  for (const { segments, message } of checkPattern(pattern as JsonObject)) {
    yield finding("NOVA125", at(path, "pattern", ...segments), `${name}: the event pattern ${message}`);
  }
}
