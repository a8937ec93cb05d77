import type { Json } from "../../json.ts";
import type { Definition } from "./definition.ts";
import type { StateFailure } from "./failure.ts";
import { catcherFields } from "./fields.ts";
import { compileResultPath } from "./path/write-path.ts";
import { assertAllIsLast, errorEquals } from "./retry.ts";
import type { Transition } from "./state.ts";

/** Where a failure leads, with Error and Cause placed in the state's input; undefined where no catcher names it. */
export type Catch = (failure: StateFailure, input: Json) => Transition | undefined;

export function compileCatch(definition: Definition): Catch {
  const definitions = definition.children("Catch");
  assertAllIsLast(definitions);
  for (const catcher of definitions) catcher.allowOnly(catcherFields);
  const catchers = definitions.map((catcher) => ({
    errorEquals: errorEquals(catcher),
    next: catcher.text("Next"),
    place: compileResultPath(catcher.get("ResultPath"), catcher.path("ResultPath")),
  }));
  return (failure, input) => {
    const catcher = catchers.find((one) => failure.matches(one.errorEquals));
    if (!catcher) return undefined;
    const error = { Error: failure.error ?? null, Cause: failure.details ?? null };
    return { output: catcher.place(input, error), next: catcher.next };
  };
}
