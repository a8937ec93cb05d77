import { invalid, malformed } from "../errors.ts";
import { admitAttributes } from "../values/admit.ts";
import type { AttributeMap } from "../values/attribute-value.ts";

export interface Limits {
  least?: number;
  most?: number;
  pattern?: string;
}

/** The fields of a request, or of a structure in it; reading one checks it as the service's own parser would. */
export class Input {
  /** As they came. */
  readonly fields: Record<string, unknown>;
  readonly #path: string;

  constructor(fields: unknown, path = "") {
    if (!isObject(fields)) throw malformed("Unexpected value type in payload");
    this.fields = fields;
    this.#path = path;
  }

  has(name: string): boolean {
    return this.#get(name) !== undefined;
  }

  text(name: string, limits: Limits = {}): string {
    return this.optionalText(name, limits) ?? this.#missing(name);
  }

  /** `least` and `most` are characters. */
  optionalText(name: string, { least = 0, most = Number.POSITIVE_INFINITY, pattern }: Limits = {}): string | undefined {
    const value = this.#get(name);
    if (value === undefined) return undefined;
    if (typeof value !== "string") throw malformed(`${name} is not of the type String`);
    const refuse = (rule: string) => this.#refusal(name, value, rule);
    if (pattern && !wholly(pattern).test(value)) {
      throw refuse(`satisfy regular expression pattern: ${pattern}`);
    }
    if (value.length < least) throw refuse(`have length greater than or equal to ${least}`);
    if (value.length > most) throw refuse(`have length less than or equal to ${most}`);
    return value;
  }

  choice<T extends string>(name: string, options: readonly T[]): T | undefined {
    const value = this.optionalText(name);
    if (value === undefined || (options as readonly string[]).includes(value)) return value as T | undefined;
    throw this.#refusal(name, value, `satisfy enum value set: [${options.join(", ")}]`);
  }

  neededChoice<T extends string>(name: string, options: readonly T[]): T {
    return this.choice(name, options) ?? this.#missing(name);
  }

  flag(name: string): boolean | undefined {
    const value = this.#get(name);
    if (value === undefined || typeof value === "boolean") return value;
    throw malformed(`${name} is not of the type Boolean`);
  }

  integer(name: string, { least = 0, most = Number.POSITIVE_INFINITY }: Limits): number | undefined {
    const value = this.#get(name);
    if (value === undefined) return undefined;
    if (typeof value !== "number") throw malformed(`${name} is not of the type Integer`);
    if (value < least) throw this.#refusal(name, String(value), `have value greater than or equal to ${least}`);
    if (value > most) throw this.#refusal(name, String(value), `have value less than or equal to ${most}`);
    return Math.floor(value);
  }

  /** Checked attributes, and their size in bytes. */
  attributes(name: string): { attributes: AttributeMap; bytes: number } {
    return this.optionalAttributes(name) ?? this.#missing(name);
  }

  optionalAttributes(name: string): { attributes: AttributeMap; bytes: number } | undefined {
    const attributes = this.map(name);
    return attributes && { bytes: admitAttributes(attributes), attributes: attributes as AttributeMap };
  }

  attributeMaps(name: string, limits: Limits): AttributeMap[] {
    const list = this.list(name, limits) ?? this.#missing(name);
    for (const attributes of list) admitAttributes(attributes);
    return list as AttributeMap[];
  }

  map(name: string): Record<string, unknown> | undefined {
    const value = this.#get(name);
    if (value === undefined || isObject(value)) return value;
    throw malformed("Unexpected field type");
  }

  structure(name: string): Input | undefined {
    const value = this.map(name);
    return value && new Input(value, `${this.#at(name)}.`);
  }

  list(name: string, { least = 0, most = Number.POSITIVE_INFINITY }: Limits = {}): unknown[] | undefined {
    const value = this.#get(name);
    if (value === undefined) return undefined;
    if (!Array.isArray(value)) throw malformed("Unexpected field type");
    const refuse = (rule: string) => this.#refusal(name, JSON.stringify(value), rule);
    if (value.length < least) throw refuse(`have length greater than or equal to ${least}`);
    if (value.length > most) throw refuse(`have length less than or equal to ${most}`);
    return value;
  }

  structures(name: string, limits: Limits = {}): Input[] | undefined {
    return this.list(name, limits)?.map((element, i) => new Input(element, `${this.#at(name)}.${i + 1}.member.`));
  }

  neededStructures(name: string, limits: Limits = {}): Input[] {
    return this.structures(name, limits) ?? this.#missing(name);
  }

  #get(name: string): unknown {
    const value = this.fields[name];
    return value === null ? undefined : value;
  }

  #at(name: string): string {
    return `${this.#path}${name.charAt(0).toLowerCase()}${name.slice(1)}`;
  }

  /** The refusal of a request without the field. */
  missing(name: string): Error {
    return this.#refusal(name, undefined, "not be null");
  }

  #missing(name: string): never {
    throw this.missing(name);
  }

  #refusal(name: string, value: string | undefined, rule: string): Error {
    const shown = value === undefined ? "null" : `'${value}'`;
    const what = `Value ${shown} at '${this.#at(name)}' failed to satisfy constraint: Member must ${rule}`;
    return invalid(`1 validation error detected: ${what}`);
  }
}

const patterns = new Map<string, RegExp>();

function wholly(pattern: string): RegExp {
  const expression = patterns.get(pattern) ?? new RegExp(`^${pattern}$`);
  patterns.set(pattern, expression);
  return expression;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
