import { type Member, membersOf } from "@nova/engine";
import { currentNodeKey, idPrefix, mappingKey, mappingOf, referencesIn } from "@nova/workflow";
import { Refused } from "../errors.ts";
import type { Principal } from "../ports/access.ts";
import type { ServicePorts } from "../ports/index.ts";
import type { Draft, DraftNode } from "../ports/sessions.ts";
import { nodeOf, shortList } from "./draft.ts";
import { withOutput } from "./edit.ts";
import { changing, sessionWithin } from "./record.ts";

interface GivenData {
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
  const named = others.filter(({ key }) => key.startsWith(idPrefix));
  const inputs = named.map(({ key, json }) => ({ input: key.slice(idPrefix.length), json }));
  await writeInputs(ports, by, id, inputs);
  const { state } = await sessionWithin(ports, by, id);
  return namesAlone(state.draft, nodeOf(state.draft, node), others);
}

/**
 * What the prompt of the node names and the draft does not say: a name that a node has in the draft leads to its output
 * anyway, and what no reference names changes nothing.
 */
function namesAlone({ nodes }: Draft, { executor, prompt, system }: DraftNode, members: readonly Member[]): Member[] {
  if (executor !== "text") return [];
  const json = members.find(({ key }) => key === mappingKey)?.json ?? "{}";
  const mapping = mappingOf({ [mappingKey]: JSON.parse(json) });
  const keys = new Set(members.map(({ key }) => key));
  const isName = (name: string) => mapping.has(name) || keys.has(name);
  const isOfNode = (name: string) => nodes.some((one) => one.name === name || one.id === name);
  const named = [prompt, system]
    .flatMap((text) => (typeof text === "string" ? referencesIn(text, isName) : []))
    .flatMap(({ name }) => (isName(name) && !isOfNode(name) ? [name] : []));
  if (named.length === 0) return [];
  return members.filter(({ key }) => key === mappingKey || named.includes(key));
}

async function writeInputs(
  ports: ServicePorts,
  by: Principal,
  id: string,
  given: readonly { input: string; json: string }[],
): Promise<void> {
  if (given.length === 0) return;
  const unchanged = new Error("every input is what it was");
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
