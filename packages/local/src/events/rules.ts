import type { JsonObject } from "@nova/workflow";
import { JsonFile } from "../disk/whole-file.ts";

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

/** The rules of all buses, as a file. Read when they are first asked for. */
export class Rules {
  readonly #file: JsonFile<Rule[]>;
  #rules: Rule[] | undefined;

  constructor(path: string) {
    this.#file = new JsonFile(path, []);
  }

  of(bus: string): Rule[] {
    return this.#all().filter((rule) => rule.bus === bus);
  }

  get(bus: string, name: string): Rule | undefined {
    return this.#all().find((rule) => rule.bus === bus && rule.name === name);
  }

  put(rule: Rule): void {
    this.#write([...this.#without(rule), rule]);
  }

  remove(rule: Pick<Rule, "bus" | "name">): void {
    this.#write(this.#without(rule));
  }

  #without({ bus, name }: Pick<Rule, "bus" | "name">): Rule[] {
    return this.#all().filter((rule) => rule.bus !== bus || rule.name !== name);
  }

  #all(): Rule[] {
    this.#rules ??= this.#file.read();
    return this.#rules;
  }

  #write(rules: Rule[]): void {
    this.#file.write(rules);
    this.#rules = rules;
  }
}
