import {
  type AgentNode,
  checkData,
  defined,
  joinOf,
  membersOf,
  objectText,
  type RunErrorClass,
  secretKeys,
} from "@nova/workflow";
import { z } from "zod";
import { type Position, storeItems } from "../../chain/position.ts";
import { blobPages } from "../../context/context.ts";
import { escapeReferences, wholeJson } from "../../context/references.ts";
import type { Ports } from "../../ports/index.ts";
import { type AgentReply, type AgentTask, noCode, type PipelineOutcome, replyKey } from "../../ports/pipeline.ts";
import { callKey, type RecordedCall } from "../../ports/sandboxes.ts";
import type { KindPorts } from "../../protocol/definition.ts";
import { buildSuccess, type Outcome, type SuccessOutcome } from "../../protocol/outcome.ts";
import { findRecordedReply } from "../../protocol/recorded.ts";
import { sha256 } from "../../sha256.ts";
import { codeExecutor, type PreparedCode } from "../code.ts";
import { maxValueBytes } from "../known-nodes.ts";
import { attemptsBefore, type Earlier, type JournalSite, type StepJournal } from "../prompt/journal.ts";
import { commonMeans } from "../prompt/means.ts";
import { settlePrompt } from "../prompt/run-prompt.ts";
import type { Delivery, Executor, Prepared, Work } from "../run-attempts.ts";
import { type NodeIo, type Task, type TaskInput, taskInput } from "../task-input.ts";
import { type Answered, prepareInput, questionFor, runWithModel, slimAnswer, textTask } from "../text.ts";
import {
  type Call,
  exchangesOf,
  findTools,
  judgeReply,
  partOf,
  type Round,
  readTalk,
  type Talk,
  type Verdict,
} from "./talk.ts";

/**
 * Runs one visit of an agent: asks its model once, or runs the code of a compiled agent once. If the model or the code
 * requests calls of tools, the entry of this visit starts the calls. The next visit follows after the join of the
 * calls.
 */
export const agentExecutor: Executor<PreparedAgent, AgentNode> = {
  prepare: prepareAgent,
  work: (delivery, prepared) => (prepared.code ? runCompiled : askOnce)(delivery, prepared),
  settle: settlePrompt,
};

type Site = JournalSite<AgentNode>;

interface PreparedAgent extends Prepared {
  earlier: Earlier;
  io: NodeIo;
  talk: Talk;
  /** Facts about the question for the record; empty after the first visit. */
  record: object;
  /** The reason why NOVA cannot ask the model. */
  problem?: string;
  /** Set if this visit runs the code of a compiled agent. */
  code?: PreparedCode;
}

async function prepareAgent(ports: KindPorts, task: Task<AgentNode>): Promise<PreparedAgent> {
  const { position, node } = task;
  const { executor } = node;
  const found = executor.compiled && (await taskInput(ports, task));
  const { io, kept, input } = found ?? (await prepareInput(ports, task));
  const mask = (text: string) => io.mask(text);
  const earlier = await attemptsBefore(ports, position);
  const said = await readTalk(ports, position, node, mask);
  const running = (talk: Talk) => (found && !hasFailed(talk) ? compiledRun(task, found, talk) : {});
  if (said) return { io, kept, earlier, talk: said, record: {}, ...running(said) };
  const question = await questionFor(ports, position, task, executor, { input, mask });
  const { system, prompt, asked, record, problem } = question;
  const talk: Talk = {
    system,
    prompt,
    asked,
    begunUsd: position.before.spent?.cost_usd ?? 0,
    steps: 0,
    rounds: [],
    returned: [],
  };
  return { io, kept, earlier, talk, record, ...(problem === undefined ? running(talk) : { problem }) };
}

/**
 * Prepares one run of the code of a compiled agent. The code sees what the model would see: the results of the agent's
 * calls as the model reads them, and no secrets. It gets no credentials and no network.
 */
function compiledRun(task: Task<AgentNode>, found: TaskInput, { rounds }: Talk) {
  const { executor } = task.node;
  const secrets = secretKeys(task.version.workflow);
  // The code does not see the answer of an earlier visit. If the code set that answer again, NOVA would find no change
  // of the context, and so no answer.
  const input = [...secrets, executor.into].reduce((all, key) => all.without(key), found.input);
  const outputs = async (id: string) => {
    const text = await found.io.outputs(id);
    return text === null ? null : objectText(membersOf(text).filter(({ key }) => !secrets.has(key)));
  };
  const recorded = ({ name, arguments: args, text = "", failed }: Call): RecordedCall => [name, args, text, !!failed];
  const calls = rounds.flatMap((round) => round.calls.map(recorded));
  const findNeeds = async () => ({});
  return { code: { ...found, io: { ...found.io, outputs }, input, allow: [], calls, findNeeds }, findNeeds };
}

/**
 * Returns the SHA-256 of the whole talk that an agent would send to its model at this position: the question, and all
 * rounds since then.
 */
export async function talkHashAt(ports: KindPorts, task: Task<AgentNode>): Promise<string> {
  return hashOf((await prepareAgent(ports, task)).talk);
}

function hashOf({ asked, rounds }: Talk): string {
  return rounds.length === 0 ? asked : sha256(JSON.stringify([asked, rounds]));
}

/** Whether the code of a compiled agent has failed. */
function hasFailed({ rounds }: Talk): boolean {
  return rounds.some(({ codeFailed }) => codeFailed !== undefined);
}

/** Whether this visit of an agent runs the code of a compiled agent, which asks no model. */
export async function runsCode(ports: Ports, position: Position, node: AgentNode): Promise<boolean> {
  if (!node.executor.compiled) return false;
  const said = await readTalk(ports, position, node, (text) => text);
  return !said || !hasFailed(said);
}

/**
 * Runs the code of a compiled agent from its start, with the calls that are on record. If the code fails, the next
 * visit asks the model, which reads these calls as its own.
 */
async function runCompiled(delivery: Delivery<AgentNode>, prepared: PreparedAgent): Promise<Work> {
  const { code, io, talk, earlier } = prepared;
  const work = await codeExecutor.work(delivery, code as PreparedCode);
  if (work.kind !== "finished") return work;
  const outcome = { ...work.outcome, more: { ...work.outcome.more, steps: earlier.steps } };
  if (outcome.status === "failed" && !ownFailures.has(outcome.class)) return { ...work, outcome };
  const site: Site = { ...delivery, io };
  const judged = outcome.status === "failed" ? { why: outcome.failure.message } : await judgeCode(site, talk, outcome);
  if ("status" in judged) return { ...work, outcome: judged };
  const { traceback = "" } = outcome.status === "failed" ? outcome.failure : {};
  const logs = [outcome.logs, traceback].filter((text) => text !== "").join("\n");
  const round: Round = { reply: { text: "", calls: [] }, calls: [], codeFailed: judged.why };
  const goesOn: Verdict & { kind: "goes on" } = { kind: "goes on", round, steps: 0, started: [] };
  return { ...work, outcome: await goOn(site, { ...outcome, logs }, talk, goesOn) };
}

const ownFailures: ReadonlySet<RunErrorClass> = new Set(["NodeFailed", "NodeTimeout"]);

/**
 * The largest number of characters in one call that code requests. NOVA holds all calls of an agent in memory together,
 * and sends them to the sandbox of the agent in every visit.
 */
const maxCallChars = 200_000;

const RequestedByCode = z.strictObject({ name: z.string(), arguments: z.string() });

/**
 * Judges what the code of a compiled agent has set: the next call, or the answer of the agent. If what it has set is
 * not valid, returns the reason in `why`.
 */
async function judgeCode(site: Site, talk: Talk, outcome: SuccessOutcome) {
  const { executor } = site.task.node;
  const { set, delete: deleted } = outcome.changes;
  const call = set.find(({ key }) => key === callKey);
  if (!call) {
    const other = [...set.map(({ key }) => key), ...deleted].find((key) => key !== executor.into);
    const why = other === undefined ? await answerProblem(site, set[0]?.json) : `it changes the key "${other}"`;
    if (why !== undefined) return { why: `${why} - the code must set context["${executor.into}"], and no other key` };
    return { ...outcome, more: { ...outcome.more, asked: hashOf(talk) } };
  }
  if (call.json.length > maxCallChars) {
    const wayOut = "pass less, or let the tool read the value with input_keys";
    return { why: `its call has more than ${maxCallChars} characters - ${wayOut}` };
  }
  const requested = RequestedByCode.safeParse(JSON.parse(call.json));
  const tools = await findTools(site.ports, site.task);
  if ("problem" in tools) return { why: tools.problem };
  if (!requested.success) return { why: "its call has no name and arguments" };
  const reply: AgentReply = { text: "", calls: [{ id: `code_${talk.rounds.length + 1}`, ...requested.data }] };
  const verdict = await judgeReply(talk, reply, executor, tools, "code");
  if (verdict.kind !== "goes on") return { why: verdict.kind === "fails" ? verdict.message : "it made no call" };
  return goOn(site, outcome, talk, verdict);
}

async function answerProblem({ ports, task }: Site, json: string | undefined): Promise<string | undefined> {
  if (json === undefined) return "it gives no answer";
  const { outputSchema } = task.node.executor;
  const whole = await wholeJson(json, maxValueBytes, { home: task.position.before, blobs: ports.blobs });
  if (whole === null) return "its answer is too large";
  if (!outputSchema) return /^"./.test(whole) && whole !== '""' ? undefined : "its answer is no text";
  const misfits = await checkData(outputSchema, whole);
  return misfits.length === 0 ? undefined : `its answer does not fit: ${misfits.join("; ")}`;
}

/** Builds the outcome of a visit in which code ran and after which another visit follows. */
async function goOn(
  site: Site,
  { logs, executionTimeMs, run, more: { steps } = {} }: Outcome,
  talk: Talk,
  verdict: Verdict & { kind: "goes on" },
): Promise<Outcome> {
  const more = { ...(await callFacts(site, talk, verdict)), asked: hashOf(talk), ...defined({ steps }) };
  return buildSuccess(joinOf(site.task.node.id), { logs, executionTimeMs, run, more });
}

async function askOnce(delivery: Delivery<AgentNode>, prepared: PreparedAgent): Promise<Work> {
  const site: Site = { ...delivery, io: prepared.io };
  const asked = hashOf(prepared.talk);
  return runWithModel(site, { earlier: prepared.earlier, asked }, (journal) => converse(site, prepared, journal));
}

async function converse(site: Site, prepared: PreparedAgent, journal: StepJournal): Promise<Answered> {
  const { talk, record, problem } = prepared;
  const { task } = site;
  const { node, version } = task;
  const { executor } = node;
  const fails = (why: string, name: RunErrorClass = "NodeFailed"): Answered => ({
    outcome: { ...noCode, status: "failed", class: name, message: `node "${node.id}"${why}` },
  });
  const recorded = await findRecordedReply(site.ports, task.position, node);
  if (problem !== undefined) return fails(`: ${problem}`);
  if (version.workflow.models === false && recorded === undefined)
    return fails(' would ask a model, and "models": false of its workflow forbids that - remove one of the two');
  const tools = await findTools(site.ports, task);
  if ("problem" in tools) return fails(`: ${tools.problem}`);
  const spentUsd = task.position.before.spent?.cost_usd ?? 0;
  const asked: AgentTask = {
    ...textTask(site, { system: talk.system, prompt: talk.prompt, record }, journal),
    spentUsd: talk.begunUsd,
    earlierUsd: journal.earlier.spent.cost_usd + Math.max(0, spentUsd - talk.begunUsd),
    tools: tools.map(({ name, description, schema }) => ({ name, description, schema })),
    exchanges: exchangesOf(talk),
    mayCall: talk.steps < executor.maxSteps,
  };
  const outcome =
    recorded === undefined
      ? await site.ports.pipeline.converse(asked, { ...commonMeans(site, journal), journal })
      : recordedOutcome(recorded);
  if (outcome.status === "failed") return { outcome };
  const reply = replyIn(outcome);
  const verdict = await judgeReply(talk, reply, executor, tools);
  if (verdict.kind === "fails") return fails(`: ${verdict.message}`, verdict.class);
  const { result } = outcome;
  if (verdict.kind === "answer") {
    const json = await slimAnswer(verdict.json, executor, site.io);
    return { outcome: { ...outcome, result: { ...result, set: [{ key: executor.into, json }] } } };
  }
  const more = await callFacts(site, talk, verdict);
  return { outcome: { ...outcome, result: { ...result, set: [] } }, more, next: joinOf(node.id) };
}

/** Builds the outcome of a visit whose reply is on record already, so NOVA asks no model. */
function recordedOutcome(json: string): PipelineOutcome {
  const result = { status: "success" as const, set: [{ key: replyKey, json }], delete: [], logs: "", durationMs: 0 };
  return { ...noCode, status: "success", result };
}

function replyIn({ result }: PipelineOutcome & { status: "success" }): AgentReply {
  const reply = result.set.find(({ key }) => key === replyKey);
  if (reply) return JSON.parse(reply.json) as AgentReply;
  throw new TypeError("an answer of a model has no reply");
}

/** Stores the arguments of the calls as the items of the entry, and builds the part of the talk that is new. */
async function callFacts({ ports, task }: Site, talk: Talk, verdict: Verdict & { kind: "goes on" }) {
  const { started } = verdict;
  const pages = blobPages(ports.blobs, task.position.before);
  const texts = started.map((call) => escapeReferences(call.arguments));
  const items = await storeItems(texts, pages);
  return {
    count: items.count,
    calls: started.map(({ entry }) => entry),
    contents: { items: JSON.stringify(items), talk: JSON.stringify(partOf(talk, verdict)) },
  };
}
