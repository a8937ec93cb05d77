import type { Target } from "./service.ts";

/** The one of EventBridge's own variables (User Guide, "Input transformation") that is served here: the event, JSON text. */
export const eventVariable = "<aws.events.event.json>";

/** What the target is invoked with, JSON text. */
export function inputOf({ InputTransformer }: Target, event: string): string {
  return InputTransformer?.InputTemplate.replaceAll(eventVariable, () => event) ?? event;
}
