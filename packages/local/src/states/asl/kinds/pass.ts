import type { Json } from "../../../json.ts";
import type { Definition } from "../definition.ts";
import { compileResultPath } from "../path/write-path.ts";
import { compileTemplateField } from "../payload-template.ts";
import { compileNext, compileSelector, type State } from "../state.ts";

export function compilePass(name: string, definition: Definition): State {
  const next = compileNext(definition);
  const inputPath = compileSelector(definition, "InputPath");
  const outputPath = compileSelector(definition, "OutputPath");
  const place = compileResultPath(definition.get("ResultPath"), definition.path("ResultPath"));
  const build = compileTemplateField(definition, "Parameters");
  const fixed: Json | undefined = definition.get("Result");
  return {
    name,
    type: "Pass",
    run(input, visit) {
      const selected = inputPath(visit.scope(input));
      const built = build ? build(visit.scope(selected)) : selected;
      const placed = place(input, fixed === undefined ? built : fixed);
      const output = outputPath(visit.scope(placed));
      visit.assertWithinDataLimit(output);
      return { output, next };
    },
  };
}
