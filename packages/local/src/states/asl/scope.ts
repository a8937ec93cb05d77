import type { Json, JsonObject } from "../../json.ts";

/** What the fields of a state can read: `$` is the data, `$$` the context object. */
export interface Scope {
  data: Json;
  context: JsonObject;
}

/** A field, compiled: reads whatever its paths point at. */
export type Expression = (scope: Scope) => Json;
