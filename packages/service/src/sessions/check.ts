import { membersOf, objectText, RawJson, secretKeysOf, shownContext } from "@nova/engine";
import { conditionLabel, defined, type Finding, mappingKey, renderPrompt } from "@nova/workflow";
import { wholeContext } from "../executions/executions.ts";
import type { Principal, ServicePorts } from "../ports/index.ts";
import type { Draft, DraftNode, Session } from "../ports/sessions.ts";
import { isInput } from "./draft.ts";
import { isDecision } from "./draft-graph.ts";
import { sourceOfPart } from "./part.ts";
import { findEarlierNodes, planOneNode, readSnapshot } from "./prepare-run.ts";
import { listNodes, nameOf, nodeOf } from "./scope.ts";
import { outputsById } from "./script-chain.ts";
import { readSession } from "./sessions.ts";
import { homeOf } from "./view.ts";

/** A prompt as the model would get it. */
export interface FilledPrompt {
  text: string;
  /** Each reference with its value as text; null if it has no value. */
  references: { reference: string; value: string | null }[];
}

export interface CheckedNode {
  session: Session;
  /** Mistakes in the node. The path of a finding is within the node, such as `$.code`. */
  findings: (Omit<Finding, "code"> & { code: string })[];
  /** The keys of the context that the node gets; null while a node before it has no output. */
  keys: string[] | null;
  /** The nodes before this node. The prompt of this node may name their outputs. */
  earlier: { id: string; name: string }[];
  /** The filled prompt of a text node; null for other nodes. */
  prompt: FilledPrompt | null;
}

/** Codes of findings that both the check of the workflow and `checkCode` report. */
const alsoOfCode = new Set<string>(["NOVA508", "NOVA601", "NOVA602", "NOVA603", "NOVA604", "NOVA607"]);

/** Checks a node of a draft with the context that the node would get in a run. Throws `NotFound`, `Refused`. */
export async function checkNode(ports: ServicePorts, by: Principal, id: string, nodeId: string): Promise<CheckedNode> {
  const session = await readSession(ports, by, id);
  const node = nodeOf(session.state.draft, nodeId);
  const snapshot = await readSnapshot(ports, session, nodeId);
  const { draft, outside } = snapshot;
  const { part, context } = planOneNode(snapshot, nodeId);
  const before = [...outside.nodes, ...findEarlierNodes(draft, nodeId)];
  const isRecorded = snapshot.recorded?.node === nodeId;
  const hasValue = ({ id }: DraftNode) =>
    [snapshot.values, outside.outcomes].some((one) => one.has(id)) || snapshot.freshness.get(id)?.isSkipped;
  const isKnown = isRecorded || (!outside.problem && before.every((one) => hasValue(one) || isInput(one)));
  const members = context.slots().map(({ key, json }) => ({ key, json }));
  const whole = await wholeContext(ports, homeOf(session), new RawJson(objectText(members)));
  const source = sourceOfPart(draft, part, {
    id: "draft",
    isRecorded: () => true,
    keys: members.map(({ key }) => key),
  });
  const { findings } = await ports.compile(source, { functions: ports.functions });
  const place = `$.nodes[${part.nodes.findIndex((one) => one.id === nodeId)}]`;
  const own = findings.filter(({ path }) => path === place || path.startsWith(`${place}.`));
  const { code } = node;
  const hasCode = typeof code === "string";
  const ofCode = hasCode ? await ports.checkCode(code, factsOf(draft, node, isKnown ? whole.text : undefined)) : [];
  return {
    session,
    findings: [
      ...own
        .filter((one) => !hasCode || !alsoOfCode.has(one.code))
        .map((one) => ({ ...one, path: `$${one.path.slice(place.length)}` })),
      ...ofCode.map((one) => ({ ...one, path: "$.code" })),
    ],
    keys: isKnown ? members.map(({ key }) => key) : null,
    earlier: before.map((one) => ({ id: one.id, name: nameOf(one) })),
    prompt: node.executor === "text" ? await fillPrompt(ports, session, node, whole) : null,
  };
}

function factsOf(draft: Draft, node: DraftNode, context: string | undefined) {
  const leaving = draft.edges.filter(({ from }) => from === node.id);
  const conditions = leaving.flatMap(({ condition }) => (condition === undefined ? [] : [conditionLabel(condition)]));
  const decides = isDecision(node);
  return {
    nodeType: decides ? ("decision" as const) : ("action" as const),
    lib: Object.keys(draft.files),
    ...(decides && conditions.length > 0 && { edges: conditions }),
    ...defined({ context }),
  };
}

/** Fills the prompt with the outputs of other nodes and the values of the context. Secret values are masked. */
async function fillPrompt(
  ports: ServicePorts,
  session: Session,
  { prompt, max_chars: maxChars }: DraftNode,
  context: RawJson,
): Promise<FilledPrompt | null> {
  if (typeof prompt !== "string") return null;
  const { settings } = session.state.draft;
  const nodes = listNodes(session.state.draft.nodes);
  const shown = shownContext(membersOf(context.text), secretKeysOf({ workflow: settings }));
  const data = {
    ...(await outputsById(ports, session)),
    ...(JSON.parse(shown.text) as Record<string, unknown>),
    [mappingKey]: Object.fromEntries(nodes.map((node) => [nameOf(node), node.id])),
  };
  const options = typeof maxChars === "number" ? { maxChars } : {};
  const { processed_prompt: text, processed_node_values, references, missing } = renderPrompt(prompt, data, options);
  const values = new Map(Object.entries(processed_node_values));
  return {
    text,
    references: [
      ...references.map(({ reference }) => ({ reference, value: values.get(reference.slice(1, -1).trim()) ?? null })),
      ...missing.map(({ reference }) => ({ reference, value: null })),
    ],
  };
}
