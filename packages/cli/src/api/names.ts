import { ApiProblem, type ItemOf, type ListPath, type NovaClient } from "@nova/client";
import { askApi, listItems } from "./ask.ts";

/** Shows the id of a workflow to people: its name, with the id to type in parentheses. */
export type NameOf = (workflow: string) => string;

const showId: NameOf = (id) => id;

/** Reads the names of workflows, and those of sessions, whose drafts run under ids of their own. */
export async function readNames(nova: NovaClient): Promise<NameOf> {
  const [workflows, sessions] = await Promise.all([
    Array.fromAsync(nova.workflows.list()),
    Array.fromAsync(nova.sessions.list()).catch(emptyIfForbidden),
  ]);
  const names = new Map([
    ...workflows.map(({ id, name }) => [id, name === id ? id : `${name} (${id})`] as const),
    ...sessions.map(({ session_id: id, name }) => [draftIdOf(id), `draft ${name} (${id})`] as const),
  ]);
  return (id) => names.get(id) ?? id;
}

/** Reads at most `max` items of an API list, and for people the names of workflows. */
export function readNamedItems<Path extends ListPath>(
  path: Path,
  max: number,
  { json, ...query }: { json: true | undefined } & Record<string, unknown>,
): Promise<[ItemOf<Path>[], NameOf]> {
  return askApi(async (nova) => {
    const items = await listItems(nova, path, max, query);
    return [items, json || items.length === 0 ? showId : await readNames(nova)];
  });
}

function emptyIfForbidden(cause: unknown): never[] {
  if (cause instanceof ApiProblem && cause.status === 403) return [];
  throw cause;
}

/** The id under which the API publishes the draft of a session for its runs. */
function draftIdOf(session: string): string {
  return session.replace(/^ses_/, "draft-").toLowerCase();
}
