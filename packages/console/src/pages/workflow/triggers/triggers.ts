import { rawOf } from "../../../json/answer.ts";
import { elementsOf, membersOf } from "../../../json/raw.ts";
import { memberOf, textIn } from "../node-text.ts";
import type { WholeWorkflow } from "../use-workflow.ts";

export interface Trigger {
  id: string;
  type: string;
  /** JSON of its other fields. */
  fields: ReadonlyMap<string, string>;
}

/** The triggers of a definition. */
export function triggersIn({ definition }: Pick<WholeWorkflow, "definition">): Trigger[] {
  return elementsOf(memberOf(rawOf(definition).text, "triggers") ?? "[]").map((text) => {
    const fields = new Map(membersOf(text).map(({ key, text: value }) => [key, value]));
    const [id = "", type = ""] = ["id", "type"].map((name) => textIn(fields.get(name)));
    fields.delete("id");
    fields.delete("type");
    return { id, type, fields };
  });
}
