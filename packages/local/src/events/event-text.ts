import type { Rule, Target } from "./service.ts";

/** An event on its way: what EventBridge puts around a detail. */
export interface Envelope {
  id: string;
  account: string;
  region: string;
  source: string;
  "detail-type": string;
  /** ISO 8601 to the second. */
  time: string;
  resources: string[];
}

/** The event's JSON text; the detail stays as it was written, digits and all. */
export function eventText({ id, source, account, region, time, resources, ...rest }: Envelope, detail: string): string {
  const head = { version: "0", id, "detail-type": rest["detail-type"], source, account, time, region, resources };
  return `${JSON.stringify(head).slice(0, -1)},"detail":${detail}}`;
}

export interface Fired {
  /** JSON text of the event. */
  event: string;
  rule: Pick<Rule, "name">;
  ruleArn: string;
}

/** Variables that EventBridge itself fills in (User Guide, "Input transformation"), as far as they are served here. */
const variables: Record<string, (fired: Fired) => string> = {
  "aws.events.event.json": ({ event }) => event,
  "aws.events.rule-name": ({ rule }) => rule.name,
  "aws.events.rule-arn": ({ ruleArn }) => ruleArn,
};

const placeholder = /<([^<>]+)>/g;

/** Names in a template that nothing here fills in. */
export function unservedVariables(template: string): string[] {
  return Array.from(template.matchAll(placeholder), ([, name = ""]) => name).filter(
    (name) => !Object.hasOwn(variables, name),
  );
}

/** What the target is invoked with, JSON text. */
export function inputOf({ InputTransformer }: Target, fired: Fired): string {
  if (!InputTransformer) return fired.event;
  return InputTransformer.InputTemplate.replaceAll(placeholder, (_, name: string) => variables[name]?.(fired) ?? "");
}
