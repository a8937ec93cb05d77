import { isObject, type Json, type JsonObject } from "../../json.ts";
import { DefinitionRejected } from "./failure.ts";

/** A part of a definition, with its path in the whole. Errors name that path as AWS does: `at /States/S/Next`. */
export class Definition {
  readonly fields: JsonObject;
  readonly at: string;

  constructor(value: Json | undefined, at: string) {
    if (!isObject(value)) throw new DefinitionRejected(at, "An object is expected");
    this.fields = value;
    this.at = at;
  }

  /** Returns the value of a field; undefined if the field is absent. `null` is a value. */
  get(field: string): Json | undefined {
    return Object.hasOwn(this.fields, field) ? this.fields[field] : undefined;
  }

  has(field: string): boolean {
    return Object.hasOwn(this.fields, field);
  }

  path(field: string): string {
    return `${this.at}/${field}`;
  }

  text(field: string): string {
    const value = this.optionalText(field);
    if (value === undefined) throw this.reject(field, "is required");
    return value;
  }

  optionalText(field: string): string | undefined {
    const value = this.get(field);
    if (value !== undefined && typeof value !== "string") throw this.reject(field, "must be a string");
    return value;
  }

  optionalNumber(field: string, least: number, most = Number.POSITIVE_INFINITY): number | undefined {
    const value = this.get(field);
    if (value === undefined) return undefined;
    if (typeof value === "number" && value >= least && value <= most) return value;
    throw this.reject(
      field,
      `must be a number of at least ${least}${most < Number.POSITIVE_INFINITY ? ` and at most ${most}` : ""}`,
    );
  }

  optionalInteger(field: string, least: number, most?: number): number | undefined {
    const value = this.optionalNumber(field, least, most);
    if (value !== undefined && !Number.isInteger(value)) throw this.reject(field, "must be an integer");
    return value;
  }

  child(field: string): Definition {
    if (!this.has(field)) throw this.reject(field, "is required");
    return new Definition(this.get(field), this.path(field));
  }

  /** Returns the objects in a list; an empty array if the field is absent. */
  children(field: string): Definition[] {
    const value = this.has(field) ? this.get(field) : [];
    if (!Array.isArray(value)) throw this.reject(field, "must be an array");
    return value.map((item, i) => new Definition(item, `${this.path(field)}[${i}]`));
  }

  /** Returns the objects in a list. Throws if the field is absent or the list is empty. */
  someChildren(field: string): Definition[] {
    const children = this.children(field);
    if (children.length === 0) throw this.reject(field, "must be an array that is not empty");
    return children;
  }

  /**
   * Returns the name of the only one of these fields that the definition has; undefined if it has none of them.
   * @throws DefinitionRejected if the definition has two of them
   */
  atMostOne(...fields: string[]): string | undefined {
    const present = fields.filter((field) => this.has(field));
    if (present.length > 1) throw this.reject(present[1] as string, `cannot stand beside ${present[0]}`);
    return present[0];
  }

  /** @throws DefinitionRejected for an unknown field, as AWS does */
  allowOnly(allowed: ReadonlySet<string>): void {
    const unknown = Object.keys(this.fields).find((field) => !allowed.has(field));
    if (unknown !== undefined) throw this.reject(unknown, "is not supported here");
  }

  reject(field: string, reason: string): DefinitionRejected {
    return new DefinitionRejected(this.path(field), `${field} ${reason}`);
  }
}
