import {
  type AgentExecutor,
  type AgentNode,
  checkData,
  elementsOf,
  isArgumentKey,
  isSameJson,
  joinOf,
  jsonProblem,
  maxCallsAtOnce,
  membersOf,
  nodeIndex,
  objectOf,
  type RunErrorClass,
  type WrittenJson,
} from "@nova/workflow";
import { atOnce } from "../../at-once.ts";
import { contentText, headOf } from "../../chain/entry.ts";
import { type Position, readKept } from "../../chain/position.ts";
import { wholeJson } from "../../context/references.ts";
import { chainBroken } from "../../errors.ts";
import type { EntryId } from "../../ports/chain.ts";
import type { Ports } from "../../ports/index.ts";
import type { AgentReply, AgentToolDefinition, Exchange, RequestedCall } from "../../ports/pipeline.ts";
import { findCalledVersion, type NodeDefinition } from "../../protocol/definition.ts";
import { maxValueBytes } from "../known-nodes.ts";

/** The talk with the model of an agent so far: the question, the answers of the model, and the results of its calls. */
export interface Talk extends Opening {
  steps: number;
  rounds: Round[];
  /** The results of the calls of the last round, in the order of the calls that ran. */
  returned: Returned[];
}

interface Opening {
  system: string;
  prompt: string;
  /** SHA-256 of the question. */
  asked: string;
  /** Cost of models in this run before the agent, in US dollars. */
  begunUsd: number;
}

/** The part of a talk that an entry of the agent stores: only what is new since the visit before. */
export interface TalkPart {
  /** Present in the first part. */
  opening?: Opening;
  /** The results of the calls of the round before. */
  returned: Returned[];
  steps: number;
  round: Round;
  /** The number of earlier parts. Between the entries of two parts there is only the entry that joins the calls. */
  after: number;
}

/** One answer of the model, or one run of the code of a compiled agent, that was not final. */
export interface Round {
  reply: AgentReply;
  calls: Call[];
  /** Why an answer without calls does not fit. */
  unfit?: string;
  /** Why the code of a compiled agent failed. After this round, the agent asks its model. */
  codeFailed?: string;
}

/** A call, and the result that the model reads for it. Without `text`, the call has not returned yet. */
export type Call = RequestedCall & Partial<Returned>;

interface Returned {
  text: string;
  failed?: true;
}

/** Reads the talk before this visit. Null if this visit starts the talk. */
export async function readTalk(
  ports: Ports,
  { before, beforeEntry, at }: Position,
  { id, executor }: AgentNode,
  mask: (text: string) => string,
): Promise<Talk | null> {
  if (before.node_id !== joinOf(id) || before.node_type !== "join") return null;
  const last = await readPart(ports, { ...at, seq: at.seq - 2 });
  const places = Array.from({ length: last.after }, (_, index) => at.seq - 2 * (last.after + 1 - index));
  const earlier = await atOnce(places, (seq) => readPart(ports, { ...at, seq }));
  const parts = [...earlier, last];
  const [{ opening }] = parts as [TalkPart];
  const { results } = beforeEntry.contents;
  if (!opening || !results) throw talkErased(at);
  const texts = elementsOf(await contentText(results, before, ports.blobs));
  const source = { home: before, blobs: ports.blobs };
  const pending = pendingCalls(last.round);
  const returned = await atOnce([...pending.keys()], async (index): Promise<Returned> => {
    const json = texts[index] ?? "null";
    const text = mask(shortenResult((await wholeJson(json, maxValueBytes, source)) ?? tooLarge, executor.maxChars));
    return { text, ...(isFailure(json) && { failed: true }) };
  });
  const rounds = parts.map(({ round }, index) => completed(round, parts[index + 1]?.returned ?? returned));
  return { ...opening, steps: last.steps, rounds, returned };
}

async function readPart(ports: Ports, place: EntryId): Promise<TalkPart> {
  const entry = await readKept(ports.chain, place);
  const stored = entry?.contents.talk;
  if (!entry || !stored) throw talkErased(place);
  return JSON.parse(await contentText(stored, headOf(entry), ports.blobs)) as TalkPart;
}

function talkErased({ execution, seq }: EntryId): Error {
  return chainBroken(`the talk of an agent before link ${seq} of ${execution} was erased`);
}

function pendingCalls({ calls }: Round): Call[] {
  return calls.filter(({ text }) => text === undefined);
}

function completed(round: Round, returned: readonly Returned[]): Round {
  const texts = new Map(pendingCalls(round).map((call, index) => [call, returned[index]]));
  return { ...round, calls: round.calls.map((call) => ({ ...call, ...texts.get(call) })) };
}

/** Returns the part of a talk that the entry with this round stores. */
export function partOf(
  { steps, rounds, returned, ...opening }: Talk,
  { round, ...verdict }: Verdict & { kind: "goes on" },
): TalkPart {
  const after = rounds.length;
  return { ...(after === 0 && { opening }), returned, steps: steps + verdict.steps, round, after };
}

const tooLarge = JSON.stringify({
  error: `the result has more than ${maxValueBytes / 1_000_000} MB, which no model reads`,
});

const defaultResultChars = 50_000;

/**
 * Cuts the result of a call to `most` characters. This is the longest text that the model, or the code of a compiled
 * agent, reads.
 */
export function shortenResult(text: string, most = defaultResultChars): string {
  if (text.length <= most) return text;
  return `${text.slice(0, most).toWellFormed()}... [cut: ${most} of ${text.length} characters]`;
}

/** True if a result is the failure of a call (`failedItem` in settle-join.ts). */
function isFailure(json: string): boolean {
  const [only, ...others] = membersOf(json);
  return only?.key === "error" && others.length === 0;
}

export function exchangesOf({ rounds }: Talk): Exchange[] {
  return rounds.map(({ reply, calls, unfit }) => ({
    reply,
    results: calls.map(({ id, text = "" }) => ({ id, text })),
    ...(unfit !== undefined && { say: `Your answer does not fit: ${unfit}. Answer again.` }),
  }));
}

export type ToolOfAgent = AgentToolDefinition & { entry: string; inputSchema: WrittenJson | undefined };

/**
 * Finds the tools of an agent. If a tool runs another workflow and has no input schema of its own, its description and
 * its schema come from that workflow. Returns a problem if that workflow is not published.
 */
export async function findTools(ports: Pick<Ports, "workflows">, { version, node }: NodeDefinition<AgentNode>) {
  const tools: ToolOfAgent[] = [];
  for (const { name, entry } of node.executor.tools) {
    const tool = nodeIndex(version.workflow).get(name)?.node;
    let { description = "", inputSchema } = tool ?? {};
    if (tool?.type === "workflow" && inputSchema === undefined) {
      const called = await findCalledVersion(ports, tool);
      if ("problem" in called) return called;
      description = called.workflow.description ?? called.workflow.name;
      inputSchema = called.workflow.inputs;
    }
    const schema = inputSchema === undefined ? { type: "object" } : objectOf(inputSchema);
    tools.push({ name, entry, description, schema, inputSchema });
  }
  return tools;
}

/** The consequence of an answer of the model. */
export type Verdict =
  | { kind: "answer"; json: string }
  | { kind: "goes on"; round: Round; steps: number; started: { entry: string; arguments: string }[] }
  | { kind: "fails"; class?: RunErrorClass; message: string };

/**
 * Judges an answer of the model. Every delivery reaches the same verdict, because the answer is recorded before it is
 * judged.
 */
export async function judgeReply(
  talk: Talk,
  reply: AgentReply,
  { maxSteps }: Pick<AgentExecutor, "maxSteps">,
  tools: readonly ToolOfAgent[],
  who: "code" | "model" = "model",
): Promise<Verdict> {
  const left = maxSteps - talk.steps;
  if (reply.calls.length === 0) return judgeAnswer(talk, reply, left);
  if (left === 0) {
    const message = `its ${who} has used its ${maxSteps} steps, and requests more calls instead of an answer - raise max_steps, or give it a smaller task`;
    return { kind: "fails", class: "StepsUsedUp", message };
  }
  const round: Round = { reply, calls: [] };
  const started: { entry: string; arguments: string }[] = [];
  const most = Math.min(left, maxCallsAtOnce);
  let steps = 0;
  for (const call of reply.calls) {
    if (isRepeatedTooOften(talk, call))
      return { kind: "fails", class: "CallRepeated", message: repeatedMessage(call, who) };
    const isOver = steps >= left || started.length >= maxCallsAtOnce;
    const refusal = isOver ? `not run: at most ${most} calls may run now` : await refusalOf(call, tools, round.calls);
    if (!isOver) steps++;
    const tool = tools.find(({ name }) => name === call.name);
    if (refusal !== undefined || !tool) {
      round.calls.push({ ...call, text: JSON.stringify({ error: refusal ?? "" }), failed: true });
      continue;
    }
    round.calls.push(call);
    started.push({ entry: tool.entry, arguments: call.arguments });
  }
  return { kind: "goes on", round, steps, started };
}

function judgeAnswer(talk: Talk, { answer, ...reply }: AgentReply, left: number): Verdict {
  if (!answer) return { kind: "fails", message: "its model gave no answer" };
  if ("json" in answer) return { kind: "answer", json: answer.json };
  const unfit = answer.problem;
  const before = talk.rounds.at(-1)?.unfit;
  if (before !== undefined || left === 0) {
    const first = before === undefined ? "" : `, and the answer before did not: ${before}`;
    const message = `the answer of its model does not fit: ${unfit}${first} - correct output_schema, or ask for less`;
    return { kind: "fails", message };
  }
  return { kind: "goes on", round: { reply: { ...reply, answer }, calls: [], unfit }, steps: 1, started: [] };
}

/** How often a failed call may be requested again with the same arguments. */
const maxFailedRepeats = 2;

/**
 * Checks whether a call repeats earlier calls too often. If the model already has the result of a call, it must not
 * repeat the call. It may repeat a failed call a few times, because the cause may have passed.
 */
function isRepeatedTooOften({ rounds }: Talk, call: RequestedCall): boolean {
  const same = rounds.flatMap(({ calls }) => calls.filter((one) => isSameCall(one, call)));
  return same.length > maxFailedRepeats || same.some(({ failed }) => !failed);
}

function isSameCall(one: RequestedCall, other: RequestedCall): boolean {
  if (one.name !== other.name) return false;
  if (one.arguments === other.arguments) return true;
  const isJson = [one, other].every((call) => jsonProblem(call.arguments) === undefined);
  return isJson && isSameJson(one.arguments, other.arguments);
}

const maxShown = 200;

function repeatedMessage({ name, arguments: args }: RequestedCall, who: string): string {
  const shown = args.length > maxShown ? `${args.slice(0, maxShown).toWellFormed()}...` : args;
  return `its ${who} repeats the call ${name}(${shown}), whose result it has already - change the prompt, or the description of the tool`;
}

/** Returns the sentence that tells the model why a call cannot run; undefined if the call can run. */
async function refusalOf(call: RequestedCall, tools: readonly ToolOfAgent[], before: readonly Call[]) {
  const tool = tools.find(({ name }) => name === call.name);
  if (!tool) return `there is no tool "${call.name}"; there are: ${tools.map(({ name }) => name).join(", ")}`;
  const problem = jsonProblem(call.arguments);
  if (problem !== undefined) return `the arguments are no JSON: the text ${problem}`;
  if (!call.arguments.trimStart().startsWith("{")) return "the arguments are no JSON object";
  const odd = membersOf(call.arguments).find(({ key }) => !isArgumentKey(key));
  if (odd) return `the arguments have the key ${JSON.stringify(odd.key)}, which no tool takes`;
  const misfits = tool.inputSchema === undefined ? [] : await checkData(tool.inputSchema, call.arguments);
  if (misfits.length > 0) return `the arguments do not fit: ${misfits.join("; ")}`;
  if (before.some((one) => isSameCall(one, call))) return "the same call is in this answer twice; it runs once";
  return undefined;
}
