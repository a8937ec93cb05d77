import type { Json } from "../../../json.ts";
import type { Definition } from "../definition.ts";
import { runtimeFailure } from "../failure.ts";
import { compileTemplateField } from "../payload-template.ts";
import type { Expression } from "../scope.ts";
import { compileField, type Visit } from "../state.ts";

/** What each item becomes before its body begins; undefined where it stays as it is. */
export function compileItemSelector(definition: Definition): Expression | undefined {
  const selector = definition.atMostOne("ItemSelector", "Parameters") ?? "ItemSelector";
  return compileTemplateField(definition, selector);
}

/** `ItemsPath`, or the whole input. */
export function compileItems(definition: Definition): (selected: Json, visit: Visit) => Json[] {
  const path = definition.optionalText("ItemsPath") ?? "$";
  const read = path === "$" ? undefined : compileField(definition, "ItemsPath");
  return (selected, visit) => {
    const items = read ? read(visit.scope(selected)) : selected;
    if (!Array.isArray(items)) throw runtimeFailure(`Reference path "${path}" must point to array.`);
    return items;
  };
}

/** 0 or nothing: `most`, as many as Step Functions allows. */
export function compileConcurrency(definition: Definition, most: number): (selected: Json, visit: Visit) => number {
  const fixed = definition.optionalInteger("MaxConcurrency", 0) ?? 0;
  definition.atMostOne("MaxConcurrency", "MaxConcurrencyPath");
  const path = definition.optionalText("MaxConcurrencyPath");
  const read = path === undefined ? undefined : compileField(definition, "MaxConcurrencyPath");
  return (selected, visit) => {
    const width = read ? read(visit.scope(selected)) : fixed;
    if (Number.isInteger(width) && (width as number) >= 0) return Math.min((width as number) || most, most);
    const shown = typeof width === "string" ? width : JSON.stringify(width);
    throw runtimeFailure(
      `The MaxConcurrencyPath field refers to value "${shown}" which is not a valid integer: ${path}`,
    );
  };
}
