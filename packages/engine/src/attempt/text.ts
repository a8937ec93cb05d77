import {
  conditionLabel,
  defaultLabel,
  idPrefix,
  type MissingReference,
  mappingKey,
  mappingOf,
  type Node,
  normalName,
  type Reference,
  type RenderedPrompt,
  referencesIn,
  renderPrompt,
  secretKeys,
  type TaskNode,
  type TextExecutor,
} from "@nova/workflow";
import { inputBefore, type Position } from "../chain/position.ts";
import type { Context } from "../context/context.ts";
import { escapeReferences, offloadLargeValues, offloadWhole } from "../context/references.ts";
import { recoverFrom } from "../errors.ts";
import type { BlobRef } from "../ports/blobs.ts";
import type { Ports } from "../ports/index.ts";
import { noCode, type PipelineOutcome, type StepDraft, type TextMeans, type TextTask } from "../ports/pipeline.ts";
import type { KindPorts, NodeDefinition } from "../protocol/definition.ts";
import type { MoreFacts } from "../protocol/outcome.ts";
import { warmBefore } from "../sandboxes/life.ts";
import { sha256 } from "../sha256.ts";
import { turnFacts } from "./judge.ts";
import { findKnownNodes, type KnownNodes, ValueTooLarge } from "./known-nodes.ts";
import {
  attemptsBefore,
  type Earlier,
  type JournalSite,
  PipelineEnded,
  StepJournal,
  TurnLost,
} from "./prompt/journal.ts";
import { commonMeans } from "./prompt/means.ts";
import { judgePipeline, settlePrompt } from "./prompt/run-prompt.ts";
import type { Delivery, Executor, Work } from "./run-attempts.ts";
import { createNodeIo, type NodeIo, type Task, withInputKeys } from "./task-input.ts";

/**
 * Runs a node whose value a model writes, without a sandbox. It asks the model, or finds the answer that an earlier
 * delivery recorded.
 */
export const textExecutor: Executor<PreparedText, TextNode> = {
  prepare: prepareText,
  work: askModel,
  settle: settlePrompt,
};

type PreparedText = Awaited<ReturnType<typeof prepareQuestion>> & { earlier: Earlier };

async function prepareText(ports: KindPorts, task: Task<TextNode>): Promise<PreparedText> {
  return { ...(await prepareQuestion(ports, task)), earlier: await attemptsBefore(ports, task.position) };
}

async function askModel(delivery: Delivery<TextNode>, { io, question, earlier }: PreparedText): Promise<Work> {
  const site: JournalSite<TextNode> = { ...delivery, io };
  return runWithModel(site, { earlier, asked: question.asked }, async (journal) => ({
    outcome: await answerFrom(site, question, journal),
  }));
}

/** The outcome of a model's answer, and more facts about the answer for the entry. */
export interface Answered {
  outcome: PipelineOutcome;
  more?: MoreFacts;
  /** The id of the node that runs next. Absent: the outcome itself determines the next node. */
  next?: string;
}

/**
 * Runs one delivery of a node that asks a model: finds the answer that an earlier delivery recorded, or calls `ask`.
 * `asked` is the hash of the question.
 */
export async function runWithModel(
  site: JournalSite,
  { earlier, asked }: { earlier: Earlier; asked: string },
  ask: (journal: StepJournal) => Promise<Answered>,
): Promise<Work> {
  const { task, attempt } = site;
  const journal = new StepJournal(site, earlier);
  try {
    await journal.adopt();
    const ending = await journal.ending();
    const answered: Answered = ending ? { outcome: ending } : await ask(journal);
    if (!(await attempt.turnWritten)) throw new TurnLost();
    const { outcome: found } = answered;
    // Every delivery computes the same success from the recorded steps. A failure may occur in this delivery alone, so
    // it counts only after it is recorded.
    const result = found.status === "failed" ? await journal.end(found) : found;
    if (!result) return { kind: "again" };
    const facts = { ...turnFacts(attempt.turn), sandboxId: null, warm: warmBefore(task.position) };
    const outcome = await judgePipeline(site, result, journal, facts);
    const contents = { ...outcome.more?.contents, ...answered.more?.contents };
    const whole = { ...outcome, more: { ...outcome.more, ...answered.more, contents, asked } };
    const { next } = answered;
    return {
      kind: "finished",
      outcome: next !== undefined && whole.status === "success" ? { ...whole, next } : whole,
      reusable: null,
      lives: false,
    };
  } catch (error) {
    if (error instanceof TurnLost || error instanceof PipelineEnded) return { kind: "again" };
    throw error;
  }
}

/** Reads the input of a node that asks a model and runs no code. */
export async function prepareInput(ports: KindPorts, { position, node, version }: Task) {
  const { kept, input: found } = await inputBefore(ports, position);
  const input = await withInputKeys(ports, position, node, version.workflow, found);
  return { kept, input, io: await createNodeIo(ports, position, input, secretKeys(version.workflow)) };
}

async function prepareQuestion(ports: KindPorts, { position, ...definition }: Task<TextNode>) {
  const { kept, input, io } = await prepareInput(ports, { ...definition, position });
  const { executor } = definition.node;
  const mask = (text: string) => io.mask(text);
  return { io, kept, question: await questionFor(ports, position, definition, executor, { input, mask }) };
}

/**
 * Returns the SHA-256 of the question that a text node would ask its model at this position in the chain; undefined for
 * other nodes.
 */
export async function promptHashAt(ports: KindPorts, position: Task["position"], definition: NodeDefinition) {
  const { node } = definition;
  if (!isTextNode(node)) return undefined;
  return (await prepareQuestion(ports, { ...definition, node, position })).question.asked;
}

type TextNode = TaskNode & { executor: TextExecutor };

export function isTextNode(node: Node | undefined): node is TextNode {
  return node !== undefined && "executor" in node && node.executor.kind === "text";
}

async function answerFrom(site: JournalSite<TextNode>, question: Question, journal: StepJournal) {
  const { node, version } = site.task;
  const { problem } = question;
  const refused = (why: string) =>
    ({ ...noCode, status: "failed", class: "NodeFailed", message: `node "${node.id}"${why}` }) as const;
  if (problem !== undefined) return refused(`: ${problem}`);
  if (version.workflow.models === false) {
    return refused(' would ask a model, and "models": false of its workflow forbids that - remove one of the two');
  }
  const asked = textTask(site, question, journal);
  const next: TextMeans["journal"]["next"] = (work) =>
    journal.next(async (at) => slimStep(await work(at), node.executor, site.io));
  return site.ports.pipeline.answer(asked, { ...commonMeans(site, journal), journal: { next } });
}

/** Builds the task for the pipeline. `system` and `prompt` of the question have no secrets. */
export function textTask(
  { io, task }: JournalSite,
  { system, prompt, record }: Pick<Question, "system" | "prompt" | "record">,
  journal: StepJournal,
): TextTask {
  const { position, node, version, edges } = task;
  const { at, before } = position;
  return {
    at,
    client: before.client,
    version,
    node,
    edges,
    mask: (text) => io.mask(text),
    earlierUsd: journal.earlier.spent.cost_usd,
    spentUsd: before.spent?.cost_usd ?? 0,
    system,
    prompt,
    record,
  };
}

/** Moves long parts of an answer to blobs, so that the step and the context only refer to them. */
async function slimStep(draft: StepDraft, executor: TextExecutor, io: NodeIo): Promise<StepDraft> {
  const { result } = draft;
  if (result?.status !== "success") return draft;
  const set = await Promise.all(
    result.set.map(async ({ key, json }) => ({ key, json: await slimAnswer(json, executor, io) })),
  );
  return { ...draft, result: { ...result, set } };
}

export function slimAnswer(json: string, { outputSchema }: TextExecutor, io: NodeIo): Promise<string> {
  const save = (ref: BlobRef, body: Uint8Array) => io.storeBlob(ref, once(body));
  return (outputSchema ? offloadWhole : offloadLargeValues)(escapeReferences(json), save);
}

async function* once(body: Uint8Array): AsyncIterable<Uint8Array> {
  yield body;
}

/**
 * The question of a text node to its model. The chain before the node determines the question, so every delivery asks
 * the same one.
 */
type Question = Awaited<ReturnType<typeof questionFor>>;

export async function questionFor(
  ports: Ports,
  position: Position,
  definition: NodeDefinition,
  executor: TextExecutor,
  { input, mask }: { input: Context; mask(text: string): string },
) {
  const { node, version } = definition;
  const known = await findKnownNodes(ports, position, version.workflow);
  const data = await contextData(known, input, [executor.prompt, executor.system ?? ""]).catch(
    recoverFrom(ValueTooLarge, (error) => error),
  );
  const isTooLarge = data instanceof ValueTooLarge;
  const mapping = isTooLarge ? known.mapping() : Object.fromEntries(mappingOf(data));
  const options = { mask, ...(executor.maxChars !== undefined && { maxChars: executor.maxChars }) };
  const render = (text: string) => renderPrompt(text, isTooLarge ? {} : data, options);
  const [system, prompt] = [render(executor.system ?? ""), render(executor.prompt)];
  const parts = [
    system.processed_prompt,
    surroundingsText(node, mapping, (id) => known.keysOf(id, input), mask),
  ].filter((text) => text !== "");
  const problem = isTooLarge
    ? `${data.message}, which no reference can look into - set the part that the prompt needs in a node before`
    : missingProblem([...system.missing, ...prompt.missing], executor);
  const question = { system: parts.join("\n\n"), prompt: prompt.processed_prompt };
  return {
    ...question,
    /** SHA-256 of the question, and of all settings that the answer depends on. */
    asked: askedHash(question, definition, executor),
    record: recordOf(system, prompt),
    problem,
  };
}

/**
 * Resolves each name in the prompts. A name is an alias, the name or the id of a node, or a key of the context. The
 * value of a node is the value of the key `idPrefix` plus the id of the node in the context. If the context has no such
 * key, the value is the output of the node.
 */
async function contextData(known: KnownNodes, input: Context, prompts: string[]): Promise<Record<string, unknown>> {
  const keys = input.slots().map(({ key }) => key);
  const slotOf = async (key: string | undefined) => {
    const slot = key === undefined ? undefined : input.slot(key);
    return slot && known.parseValue(slot.json, slot.key);
  };
  const aliases = mappingOf({ [mappingKey]: await slotOf(mappingKey) });
  const mapping = { ...known.mapping(), ...Object.fromEntries(aliases) };
  const [likeAlias, likeKey] = [finderIn(aliases.keys()), finderIn(keys)];
  const idOf = (name: string) => {
    const alias = likeAlias(name);
    return alias === undefined ? (known.idOf(name) ?? (input.slot(idPrefix + name) && name)) : aliases.get(alias);
  };
  const data: Record<string, unknown> = { [mappingKey]: mapping };
  const isName = (name: string) => idOf(name) !== undefined || likeKey(name) !== undefined;
  for (const { name } of prompts.flatMap((prompt): Reference[] => referencesIn(prompt, isName))) {
    const [id, key] = [idOf(name), likeKey(name)];
    if (id !== undefined) data[idPrefix + id] ??= (await slotOf(idPrefix + id)) ?? (await known.outputOf(id)) ?? null;
    if (key !== undefined && key !== mappingKey) data[key] ??= await slotOf(key);
  }
  return data;
}

/**
 * Returns a function that finds a name in `names`. If the exact name is missing, it finds a name that differs only in
 * case and blanks.
 */
function finderIn(names: Iterable<string>): (name: string) => string | undefined {
  const exact = new Set(names);
  let normal: Map<string, string> | undefined;
  return (name) => {
    if (exact.has(name)) return name;
    normal ??= new Map(Array.from(exact, (one) => [normalName(one), one] as const).reverse());
    return normal.get(normalName(name));
  };
}

function missingProblem(missing: readonly MissingReference[], { onMissing }: TextExecutor): string | undefined {
  const [first, ...others] = missing;
  if (!first || onMissing === "mark") return undefined;
  const also = others.length === 0 ? "" : `, and ${others.map(({ reference }) => reference).join(", ")} neither`;
  const why = first.has_node
    ? `"${first.name}" has no such part`
    : `no node "${first.name}" has brought anything before`;
  return `${first.reference} has no value: ${why}${also} - correct the reference, or add "on_missing": "mark"`;
}

function askedHash(
  { system, prompt }: { system: string; prompt: string },
  { node, edges, version }: NodeDefinition,
  { kind: _, file: __, prompt: ___, system: ____, maxCostUsd: _____, ...settings }: TextExecutor,
): string {
  const { model } = version.workflow;
  const choices =
    node.type === "decision" ? edges.map(({ condition }) => conditionLabel(condition ?? defaultLabel)) : null;
  const common = settings.model ?? model?.text ?? model?.default ?? null;
  return sha256(JSON.stringify([system, prompt, { ...settings, model: common }, choices]));
}

/**
 * The lengths to which the prompt and each value are shortened in the record for readers. Nothing is lost: the step
 * also has the whole prompt.
 */
const [maxPrompt, maxValue] = [20_000, 2_000];

function recordOf(system: RenderedPrompt, prompt: RenderedPrompt): object {
  const values = Object.entries({ ...system.processed_node_values, ...prompt.processed_node_values });
  const shown = values.map(([name, value]) => [name, shorten(value, maxValue)]);
  return {
    processed_prompt: shorten(prompt.processed_prompt, maxPrompt),
    processed_node_values: Object.fromEntries(shown),
    references: [...system.references, ...prompt.references],
    missing: [...system.missing, ...prompt.missing].map(({ reference }) => reference),
  };
}

function shorten(text: string, most: number): string {
  if (text.length <= most) return text;
  return `${text.slice(0, most).toWellFormed()}... [cut: ${most} of ${text.length} characters]`;
}

/** Limits for the list of nodes in a prompt, so that a long chain of work does not fill the prompt. */
const [maxNodes, maxKeys, maxCharacters] = [50, 20, 6_000];

export function surroundingsText(
  { id }: Pick<Node, "id">,
  mapping: Readonly<Record<string, string>>,
  keysOf: (node: string) => string[],
  mask: (text: string) => string,
): string {
  const others = Object.entries(mapping).filter(([, other]) => other !== id);
  if (others.length === 0) return "";
  const shown = others.slice(-maxNodes);
  const left = others.length - shown.length;
  const names = JSON.stringify(Object.fromEntries(shown));
  const keys = shown.map(([, other]) => {
    const own = keysOf(other).slice(0, maxKeys);
    return `id:${other}${own.length === 0 ? "" : ` (${own.map((key) => JSON.stringify(key)).join(", ")})`}`;
  });
  const text = [
    `You have access to a graph of connected nodes with the following name-to-ID mapping: ${names}${left > 0 ? ` and ${left} more` : ""}`,
    `You have access to information from the following nodes: ${keys.join(", ")}.`,
    "Where the prompt refers to a node, what it has brought stands in the place of the reference. Use this information to inform your response.",
  ].join("\n");
  const masked = mask(text);
  return masked.length <= maxCharacters ? masked : `${masked.slice(0, maxCharacters).toWellFormed()}...`;
}
