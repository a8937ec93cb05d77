import type { Json } from "../../../json.ts";
import type { Definition } from "../definition.ts";
import { runtimeFailure } from "../failure.ts";
import { compileField, type Visit } from "../state.ts";

/** Whether so many failures are too many; asked after each. */
export type ExceedsTolerance = (failures: number) => boolean;

/** ToleratedFailureCount and ToleratedFailurePercentage; with both, each is a limit. Without them no item may fail. */
export function compileTolerance(
  definition: Definition,
): (selected: Json, visit: Visit, items: number) => ExceedsTolerance {
  const count = compileLimit(definition, "ToleratedFailureCount");
  const percentage = compileLimit(definition, "ToleratedFailurePercentage", 100);
  return (selected, visit, items) => {
    const mostCount = count?.(selected, visit);
    const mostShare = percentage?.(selected, visit);
    return (failures) => {
      if (mostCount === undefined && mostShare === undefined) return failures > 0;
      if (mostCount !== undefined && failures > mostCount) return true;
      return mostShare !== undefined && failures * 100 > mostShare * items;
    };
  };
}

function compileLimit(
  definition: Definition,
  field: string,
  most?: number,
): ((selected: Json, visit: Visit) => number) | undefined {
  const fixed = definition.optionalNumber(field, 0, most);
  const pathField = `${field}Path`;
  if (definition.atMostOne(field, pathField) === undefined) return undefined;
  if (fixed !== undefined) return () => fixed;
  const read = compileField(definition, pathField);
  return (selected, visit) => {
    const limit = read(visit.scope(selected));
    if (typeof limit === "number" && limit >= 0 && limit <= (most ?? limit)) return limit;
    throw runtimeFailure(`The ${pathField} field must refer to a number, but gave ${JSON.stringify(limit)}`);
  };
}
