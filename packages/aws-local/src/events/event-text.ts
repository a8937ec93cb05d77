import type { Target } from "./service.ts";

/** The only variable of EventBridge that is served (User Guide, "Input transformation"): the event as JSON text. */
export const eventVariable = "<aws.events.event.json>";

/** The target's input as JSON text. */
export function inputOf({ InputTransformer }: Target, event: string): string {
  return InputTransformer?.InputTemplate.replaceAll(eventVariable, () => event) ?? event;
}
