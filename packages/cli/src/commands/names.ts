import type { ItemOf, ListPath, NovaClient } from "@nova/client";
import { atOnce } from "@nova/engine";
import { askApi, listItems } from "../api/ask.ts";
import { cell, type NameOf } from "../output/text.ts";

/**
 * Reads the names of workflows. If the name of a workflow cannot be read, for example because the workflow was deleted,
 * the id replaces the name.
 */
export async function readNames(nova: NovaClient, ids: Iterable<string>): Promise<NameOf> {
  const names = new Map<string, string>();
  const read = async (id: string) => names.set(id, await readName(nova, id).catch(() => id));
  await atOnce(Array.from(new Set(ids)), read);
  return (id) => names.get(id) ?? id;
}

async function readName(nova: NovaClient, id: string): Promise<string> {
  const session = sessionOf(id);
  if (session !== undefined) return `draft ${cell((await nova.sessions.get(session)).name)} (${session})`;
  const { name } = await nova.workflows.get(id);
  return name === id ? id : `${cell(name)} (${id})`;
}

/** Returns the id of the session whose draft has this workflow id. */
function sessionOf(id: string): string | undefined {
  const [, ulid] = /^draft-([0-9a-z]{26})$/.exec(id) ?? [];
  return ulid && `ses_${ulid.toUpperCase()}`;
}

/** Reads at most `max` items of an API list, and the names of their workflows if the output is for people. */
export function readNamedItems<Path extends ListPath>(
  path: Path,
  max: number,
  { json, ...query }: { json: true | undefined } & Record<string, unknown>,
): Promise<[ItemOf<Path>[], NameOf]> {
  return askApi(async (nova) => {
    const items = await listItems(nova, path, max, query);
    const named = json ? [] : (items as { workflow?: string | null }[]);
    const ids = named.flatMap(({ workflow }) => workflow ?? []);
    return [items, await readNames(nova, ids)];
  });
}
