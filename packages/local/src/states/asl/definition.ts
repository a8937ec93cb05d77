import { DefinitionRejected } from "./failure.ts";
import { isObject, type Json, type JsonObject } from "./json.ts";

/** A part of a definition and its place, so that whatever is wrong can be said with a path. */
export class Definition {
  readonly fields: JsonObject;
  readonly at: string;

  constructor(value: Json | undefined, at: string) {
    if (!isObject(value)) throw new DefinitionRejected(at, "must be an object");
    this.fields = value;
    this.at = at;
  }

  /** The value, or undefined where the field is absent; `null` is a value. */
  get(field: string): Json | undefined {
    return Object.hasOwn(this.fields, field) ? this.fields[field] : undefined;
  }

  path(field: string): string {
    return `${this.at}.${field}`;
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

  optionalNumber(field: string): number | undefined {
    const value = this.get(field);
    if (value !== undefined && typeof value !== "number") throw this.reject(field, "must be a number");
    return value;
  }

  child(field: string): Definition {
    return new Definition(this.get(field), this.path(field));
  }

  /** The objects of a list; none where the field is absent. */
  children(field: string): Definition[] {
    const value = this.get(field) ?? [];
    if (!Array.isArray(value)) throw this.reject(field, "must be an array");
    return value.map((item, i) => new Definition(item, `${this.path(field)}[${i}]`));
  }

  /** @throws for a field that AWS knows and the local interpreter does not run. */
  refuse(field: string, instead: string): void {
    if (this.get(field) !== undefined) throw this.reject(field, `is not supported locally: ${instead}`);
  }

  reject(field: string, reason: string): DefinitionRejected {
    return new DefinitionRejected(this.path(field), `${field} ${reason}`);
  }
}
