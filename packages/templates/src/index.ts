import { type TemplateName, templateNames } from "./names.ts";
import texts from "./templates.json" with { type: "json" };

export { type TemplateName, templateNames } from "./names.ts";

/** A workflow to start from. */
export interface Template {
  /** The name is also the id of the workflow, until `fillTemplate` replaces it. */
  name: TemplateName;
  title: string;
  description: string;
  /** The text of each file by its path: `workflow.json`, `nodes/read_invoice.py`. */
  files: Readonly<Record<string, string>>;
}

export const templates = Object.fromEntries(
  templateNames.map((name) => [name, describeTemplate(name, texts[name])]),
) as Record<TemplateName, Template>;

function describeTemplate(name: TemplateName, files: Record<string, string>): Template {
  const { name: title, description } = JSON.parse(files["workflow.json"] as string);
  return { name, title, description, files };
}

/** Returns the files of a new workflow with this id and name. The webhook of the workflow gets the same id. */
export function fillTemplate(template: Template, { id, name }: { id: string; name: string }): Record<string, string> {
  const replaced = [
    [`"id": "${template.name}"`, `"id": ${JSON.stringify(id)}`],
    [`"workflow": "${template.name}"`, `"workflow": ${JSON.stringify(id)}`],
    [`"name": "${template.title}"`, `"name": ${JSON.stringify(name)}`],
  ] as const;
  const fill = (text: string) => replaced.reduce((filled, [old, own]) => filled.replaceAll(old, () => own), text);
  return Object.fromEntries(
    Object.entries(template.files).map(([path, text]) => [path, path.endsWith(".json") ? fill(text) : text]),
  );
}
