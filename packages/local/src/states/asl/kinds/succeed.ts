import type { Definition } from "../definition.ts";
import { compileSelector, type State } from "../state.ts";

export function compileSucceed(name: string, definition: Definition): State {
  const inputPath = compileSelector(definition, "InputPath");
  const outputPath = compileSelector(definition, "OutputPath");
  return {
    name,
    type: "Succeed",
    run: (input, visit) => ({ output: outputPath(visit.scope(inputPath(visit.scope(input)))), next: undefined }),
  };
}
