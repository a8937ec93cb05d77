import type { Rule, Target } from "./service.ts";

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
