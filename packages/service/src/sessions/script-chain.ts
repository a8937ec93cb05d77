import { membersOf, parsedOrNot, RawJson, readTraceLink, valueAt } from "@nova/engine";
import { currentNodeKey, defined, idPrefix, mappingKey, type RenderedPrompt, renderPrompt } from "@nova/workflow";
import { Refused } from "../errors.ts";
import type { Principal, ServicePorts } from "../ports/index.ts";
import type { Draft, Session } from "../ports/sessions.ts";
import { restoreSession } from "./record.ts";
import { readSessionRun, runAlone } from "./run.ts";
import { nameOf, nodeOf } from "./scope.ts";
import { readSession } from "./sessions.ts";
import { sessionOutputs } from "./view.ts";

/** A request of a front end for prompt chains: a model should answer the prompt. */
export interface TextRequest {
  ulid: string;
  prompt: string;
  llmConfig?: object;
  /** JSON text of an object; see `applyContextData`. Its key `__current_node` has the id of the node of this prompt. */
  contextData?: string;
  /**
   * `fail`: a reference without a value makes the request fail. `mark`: the prompt has an error text in place of the
   * reference. Absent: the node's setting, or `mark`.
   */
  onMissing?: "fail" | "mark";
}

const waitMs = 25_000;

/**
 * Generates a text. If the request names a node of the draft, the text is the output of this node, and the node keeps
 * the prompt. Throws as `runAlone` does, and `Refused` if the model fails or takes longer than a request waits. A
 * failed request leaves the session unchanged.
 */
export async function generateText(
  ports: ServicePorts,
  by: Principal,
  id: string,
  { ulid, prompt, llmConfig, contextData = "{}", onMissing }: TextRequest,
) {
  const current = parsedOrNot(valueAt(contextData, [currentNodeKey]) ?? "null");
  if (current !== null && typeof current !== "string")
    throw new Refused(`"${currentNodeKey}" has to be the id of a node, a text - correct it, or leave it out`);
  const { draft } = (await readSession(ports, by, id)).state;
  const known = current === null ? undefined : nodeOf(draft, current);
  const fields = {
    executor: "text",
    prompt,
    on_missing: onMissing ?? known?.on_missing ?? "mark",
    ...defined({ llm_config: llmConfig }),
  };
  const what = known ? { changes: fields } : { passing: { type: "action", ...fields } };
  const node = known?.id ?? freeId(draft, "text");
  const begun = await runAlone(ports, by, id, { ulid, node, contextData, ...what });
  const { record } = await readSessionRun(ports, by, id, begun, waitMs);
  if (!record || record.tip === undefined)
    throw new Refused(
      `the model takes longer than a request waits - GET /executions/${begun.execution} says how it ends`,
    );
  if (record.status !== "completed") {
    await restoreSession(ports, by, begun);
    throw new Refused(record.error?.message ?? `the run was ${record.status}`);
  }
  const { entry } = await readTraceLink(ports, record.id, { seq: 1, scope: "", full: false });
  const { tokens_input = 0, tokens_output = 0, cost_usd = 0 } = record.spent ?? {};
  const [value] = entry ? membersOf(entry.changes.set.text) : [];
  const text = parsedOrNot(value?.json ?? '""');
  return {
    generated_text: typeof text === "string" ? text : JSON.stringify(text),
    prompt_tokens: tokens_input,
    completion_tokens: tokens_output,
    total_tokens: tokens_input + tokens_output,
    cost: cost_usd,
    /** The run time of the node in seconds. */
    duration: (entry?.execution_time_ms ?? 0) / 1000,
    warnings: (entry?.ai_metadata?.missing ?? []).map(
      (reference) => `${reference} has no value - send it in context_data, or correct the reference`,
    ),
  };
}

function freeId({ nodes }: Draft, id: string): string {
  return nodes.some((node) => node.id === id) ? freeId({ nodes } as Draft, `${id}_`) : id;
}

/**
 * Returns the outputs of nodes, each as one value: the value of the only key that the node sets, or an object of all
 * keys. The value is null for a node without an output.
 */
export async function nodeValues(ports: ServicePorts, session: Session, nodes: readonly string[]) {
  const outputs = await sessionOutputs(ports, session, nodes);
  const single = (output: RawJson | null) => {
    const members = output ? membersOf(output.text) : [];
    return members.length === 1 && members[0] ? new RawJson(members[0].json) : output;
  };
  return Object.fromEntries(outputs.map(({ node_id, output }) => [node_id, single(output)]));
}

/** Fills a prompt template with the outputs of the session and the values that the caller sends. */
export async function renderTemplate(
  ports: ServicePorts,
  by: Principal,
  id: string,
  { template, contextData = "{}" }: { template: string; contextData?: string },
): Promise<{ session: Session; rendered: RenderedPrompt }> {
  const session = await readSession(ports, by, id);
  const names = session.state.draft.nodes.map((node) => [nameOf(node), node.id]);
  const sent = JSON.parse(contextData) as Record<string, unknown>;
  const own = sent[mappingKey];
  const mapping = { ...Object.fromEntries(names), ...(own !== null && typeof own === "object" ? own : {}) };
  const data = { ...(await outputsById(ports, session)), ...sent, [mappingKey]: mapping };
  return { session, rendered: renderPrompt(template, data) };
}

/** Returns the output of each node that has one, under the key by which prompts name it. */
export async function outputsById(ports: ServicePorts, session: Session): Promise<Record<string, unknown>> {
  const values = Object.entries(await nodeValues(ports, session, []));
  return Object.fromEntries(
    values.flatMap(([node, value]) => (value ? [[idPrefix + node, JSON.parse(value.text) as unknown]] : [])),
  );
}
