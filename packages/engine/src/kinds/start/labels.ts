import type { Member } from "@nova/workflow";
import { longestLabel, secretKeys, templateParts, type Workflow } from "@nova/workflow";
import { contentText } from "../../chain/contents.ts";
import { headOf } from "../../chain/head.ts";
import { Context } from "../../context/context.ts";
import { referencesIn } from "../../context/references.ts";
import type { StoredEntry } from "../../ports/chain.ts";
import type { Ports } from "../../ports/index.ts";

/** Labels of a run by name, from its initial context; undefined if it has none. A secret input counts as missing. */
export function labelsOf(workflow: Workflow, set: readonly Member[]): Record<string, string> | undefined {
  const { labels = {} } = workflow;
  const secrets = secretKeys(workflow);
  const context = new Context(set.filter(({ key }) => !secrets.has(key)).map((member) => ({ ...member, by: 0 })));
  const known = Object.entries(labels).flatMap(([name, template]) => {
    const value = rendered(template, context);
    return value === undefined ? [] : [[name, value] as const];
  });
  return known.length > 0 ? Object.fromEntries(known) : undefined;
}

function rendered(template: string, context: Context): string | undefined {
  const texts = templateParts(template).map((part) =>
    part.kind === "text" ? part.text : shown(context.get(part.path)),
  );
  if (!texts.every((text) => text !== undefined)) return undefined;
  const text = Array.from(texts.join("").trim().toWellFormed()).slice(0, longestLabel).join("");
  return text === "" ? undefined : text;
}

/** Numbers keep the digits that the caller sent. */
function shown(json: string | undefined): string | undefined {
  if (json === undefined || json === "null" || referencesIn(json).length > 0) return undefined;
  return json.startsWith('"') ? (JSON.parse(json) as string) : json;
}

/** The labels in link 0; undefined if it never had any, or if they were erased. */
export async function labelsIn(
  { blobs }: Pick<Ports, "blobs">,
  entry: StoredEntry,
): Promise<Record<string, string> | undefined> {
  const { labels } = entry.contents;
  return labels && (JSON.parse(await contentText(labels, headOf(entry), blobs)) as Record<string, string>);
}
