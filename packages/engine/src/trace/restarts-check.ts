import { atOnce } from "../at-once.ts";
import { headOf, sourceOf } from "../chain/head.ts";
import type { Execution } from "../ports/executions.ts";
import type { Ports } from "../ports/index.ts";

/**
 * The problem of the restarts that a record names. Link 0 of a restart names its source and is written first. Then the
 * record names the restart. The note beside the chain of the source is written last.
 */
export async function restartsMisfit(ports: Ports, id: string): Promise<string | undefined> {
  const notes = await ports.chain.notes(id);
  const { restarts = [] } = ((await ports.executions.get(id)) ?? {}) as Partial<Execution>;
  const noted = notes.flatMap((note) => (note.kind === "restart" ? [note.execution] : []));
  const dropped = noted.find((restart) => !restarts.includes(restart));
  if (dropped !== undefined) return changed(`lack ${dropped}`);
  const twice = restarts.find((restart, index) => restarts.indexOf(restart) !== index);
  if (twice !== undefined) return changed(`name ${twice} twice`);
  const strangers = await atOnce(restarts, async (restart) => ((await isRestart(ports, restart, id)) ? [] : [restart]));
  const [stranger] = strangers.flat();
  return stranger === undefined ? undefined : changed(`name ${stranger}, whose chain does not take over its outcomes`);
}

/**
 * The problem of the record of a restart's source. The record names the restart before the restart has a record, so a
 * missing name was dropped. The note beside the chain may be dropped, too.
 */
export async function sourceMisfit(
  { executions }: Pick<Ports, "executions">,
  { id, restartedFrom }: Pick<Execution, "id" | "restartedFrom">,
): Promise<string | undefined> {
  const source = restartedFrom === undefined ? undefined : await executions.get(restartedFrom);
  if (!source || source.restarts?.includes(id)) return undefined;
  return `the record of its source ${source.id} was changed: its "restarts" lack ${id}`;
}

async function isRestart({ chain }: Ports, restart: string, source: string): Promise<boolean> {
  const { entry } = await chain.read({ execution: restart, scope: "", seq: 0 });
  return entry !== undefined && sourceOf(headOf(entry)) === source;
}

function changed(how: string): string {
  return `the record of the run was changed: its "restarts" ${how}`;
}
