import { JsonFile } from "../disk/json-file.ts";
import type { Rule } from "./rule.ts";

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
