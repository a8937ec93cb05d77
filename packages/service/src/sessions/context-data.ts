import { membersOf } from "@nova/engine";
import { Refused } from "../errors.ts";
import type { Principal } from "../ports/access.ts";
import type { ServicePorts } from "../ports/index.ts";
import { nodeOf, shortList } from "./draft.ts";
import { withOutput } from "./edit.ts";
import { changing } from "./record.ts";

/** How a key of `context_data` names the output of a node. */
const byId = /^id:(.+)$/;

/**
 * Outputs of other nodes as a front end has them: where they differ from those of the session they are written by hand,
 * and raise the versions of their nodes. `id:<node>` names a node; a name that `__node_mapping` leads to a node is the same
 * value once more. Throws `NotFound`, `Refused`.
 */
export async function writeContextData(
  ports: ServicePorts,
  by: Principal,
  id: string,
  node: string,
  contextData: string,
): Promise<void> {
  const members = membersOf(contextData);
  const current = members.find(({ key }) => key === "__current_node")?.json;
  if (current !== undefined && current !== JSON.stringify(node))
    throw new Refused(`"__current_node" is ${current.slice(0, 80)}, and the address runs "${node}" - send the same`);
  const given = members.flatMap(({ key, json }) => {
    const [, input] = byId.exec(key) ?? [];
    return input === undefined ? [] : [{ input, json }];
  });
  await writeInputs(ports, by, id, given);
}

async function writeInputs(
  ports: ServicePorts,
  by: Principal,
  id: string,
  given: readonly { input: string; json: string }[],
): Promise<void> {
  if (given.length === 0) return;
  const unchanged = new Unchanged();
  await changing(ports, by, id, async (session) => {
    let state = session.state;
    const written: string[] = [];
    for (const { input, json } of given) {
      nodeOf(state.draft, input);
      const next = await withOutput(ports, by, { ...session, state }, input, { output: json });
      if (!next) continue;
      state = next;
      written.push(input);
    }
    if (written.length === 0) throw unchanged;
    return { state, what: `the outputs of ${shortList(written)} were written by hand`, answer: undefined };
  }).catch((error: unknown) => {
    if (error !== unchanged) throw error;
  });
}

/** Every input is what it was. */
class Unchanged extends Error {}
