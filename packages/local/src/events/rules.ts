import type { JsonObject } from "@nova/workflow";

/** What a rule invokes. */
export interface Target {
  Id: string;
  Arn: string;
  /** Text with `<aws.events...>` in the places of what only the event says. */
  InputTransformer?: { InputTemplate: string };
  /** JSON text that the target gets instead of the event. */
  Input?: string;
}

export interface Rule {
  name: string;
  bus: string;
  /** JSON text, as it was put. */
  pattern: string;
  state: "ENABLED" | "DISABLED";
  description?: string;
  targets: Target[];
}

/** A rule that a deployment makes, and no call changes. */
export interface StandingRule {
  bus: string;
  pattern: JsonObject;
  functionArn: string;
  /** One delivery after the other, as of a FIFO queue with one consumer. */
  inTurn?: boolean;
}

export function ruleKey({ bus, name }: Pick<Rule, "bus" | "name">): string {
  return `${bus}/${name}`;
}
