import { type Member, membersOf } from "@nova/engine";
import { currentNodeKey, idPrefix, mappingKey, mappingOf } from "@nova/workflow";
import { Refused } from "../errors.ts";
import type { Principal } from "../ports/access.ts";
import type { ServicePorts } from "../ports/index.ts";
import type { Draft } from "../ports/sessions.ts";
import { nodeOf, shortList } from "./draft.ts";
import { withOutput } from "./edit.ts";
import { changing, sessionWithin } from "./record.ts";

interface GivenData {
  /** The node that runs. */
  node: string;
  /** It is none of the draft. */
  isPassing: boolean;
  /** JSON text of an object. */
  contextData: string;
}

/**
 * Outputs of other nodes as a front end has them: where they differ from those of the session they are written by hand,
 * and raise the versions of their nodes. `id:<node>` names a node. Answers what else is given, for this run alone: names,
 * and for a node that is none of the draft everything. Throws `NotFound`, `Refused`.
 */
export async function writeContextData(
  ports: ServicePorts,
  by: Principal,
  id: string,
  { node, isPassing, contextData }: GivenData,
): Promise<Member[]> {
  const members = membersOf(contextData);
  const mark = members.find(({ key }) => key.startsWith("$"));
  if (mark)
    throw new Refused(`context_data has the key "${mark.key}" - such keys mark NOVA's references: use another name`);
  const others = members.filter(({ key }) => key !== currentNodeKey);
  if (isPassing) return others;
  const current = members.find(({ key }) => key === currentNodeKey)?.json;
  if (current !== undefined && current !== JSON.stringify(node))
    throw new Refused(`"${currentNodeKey}" is ${current.slice(0, 80)}, and the address runs "${node}" - send the same`);
  const inputs = others.filter(({ key }) => key.startsWith(idPrefix));
  await writeInputs(
    ports,
    by,
    id,
    inputs.map(({ key, json }) => ({ input: key.slice(idPrefix.length), json })),
  );
  const { state } = await sessionWithin(ports, by, id);
  return namesAlone(state.draft, others);
}

/** What is not said in the draft already: a name that a node has there leads to the same output. */
function namesAlone({ nodes }: Draft, members: readonly Member[]): Member[] {
  const json = members.find(({ key }) => key === mappingKey)?.json ?? "{}";
  const mapping = mappingOf({ [mappingKey]: JSON.parse(json) });
  const isKnown = (name: string) => {
    const node = nodes.find((one) => one.id === mapping.get(name));
    return node !== undefined && (node.name === name || node.id === name);
  };
  const isMapped = (key: string) => mapping.has(key);
  const isPlain = [...mapping.keys()].every(isKnown);
  return members.filter(({ key }) => {
    if (key.startsWith(idPrefix)) return false;
    return key === mappingKey ? !isPlain : !isMapped(key);
  });
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
