import { hash } from "node:crypto";
import * as engine from "@nova/engine";
import { checkContext, type ExactValue, keepingDigits, parseExact, textOfJson, type Workflow } from "@nova/workflow";
import { defined } from "@nova/workflow/defined";
import { ulid } from "ulid";
import { reaches } from "../access/authenticate.ts";
import { recordDeed } from "../audit/audit.ts";
import { demandClient, withVariables } from "../clients/clients.ts";
import { cancelRuns, removeSession } from "../erasing/erase-run.ts";
import { NotFound, Refused } from "../errors.ts";
import { versionFor } from "../executions/execute.ts";
import { executionWithin } from "../executions/executions.ts";
import { defaultClient } from "../ports/clients.ts";
import type { Attempt, Principal, ServicePorts } from "../ports/index.ts";
import { type Page, type PageQuery, type Range, readPage } from "../ports/page.ts";
import type { DraftEdge, DraftNode, NodeRecord, Session, SessionState, SessionSummary } from "../ports/sessions.ts";
import { isDraftId } from "../workflows/find.ts";
import { demandNoMark, emptyDraft, isStep, sha256Of, withEdge, withNode } from "./draft.ts";
import { buildDraftGraph } from "./draft-graph.ts";
import { judgeFreshness } from "./freshness.ts";
import { draftFromFile, draftFromWorkflow, draftOfNodes, type SentFile } from "./from-workflow.ts";
import { demandNode } from "./part.ts";
import { outcomeOf, sessionWithin, settleSession } from "./record.ts";
import { listNodes, shortList } from "./scope.ts";

const dayMs = 24 * 60 * 60 * 1000;
const usualRetentionDays = 30;

export interface SessionRequest {
  ulid: string;
  name?: string;
  /** The workflow from which the session starts; absent: the session starts empty. */
  workflow?: string;
  /** The version of the workflow; absent: the active version. */
  version?: number;
  /** The client of the session; absent: the client of the key, or the default client. */
  client?: string;
  /** JSON text of an object: the initial context of every run. */
  context?: string;
  retentionDays?: number;
  nodes?: readonly DraftNode[];
  edges?: readonly DraftEdge[];
  /** A run from which the session starts, instead of a workflow. */
  run?: RunPlace;
  /** A workflow file with which the session starts, and the files that it names. */
  file?: SentFile;
  files?: Readonly<Record<string, string>>;
}

type FirstState = Pick<Session, "client" | "name" | "state">;

/** Creates a session. Throws `NotFound`, `Refused`, `InputsRefused`, `Conflict`. */
export async function createSession(ports: ServicePorts, by: Principal, request: SessionRequest): Promise<Session> {
  const { ulid, retentionDays = usualRetentionDays, run } = request;
  const first = run ? await buildFromRun(ports, by, run) : await buildFromRequest(ports, by, request);
  const { client, state, name } = first;
  if (run) await demandClient(ports, by, client);
  const now = ports.clock.now();
  const session: Session = {
    format: 1,
    id: `ses_${ulid}`,
    client,
    name: request.name ?? name,
    revision: 1,
    createdBy: by.id,
    createdAt: new Date(now).toISOString(),
    retentionDays,
    expiresAt: new Date(now + retentionDays * dayMs).toISOString(),
    state,
  };
  // A repeated request finds the session that the first request created.
  if (!(await ports.sessions.create(session))) return sessionWithin(ports, by, session.id);
  const detail = defined({ workflow: state.workflow, run: run?.run });
  await recordDeed(ports, by, { action: "session.created", client, subject: session.id, detail });
  return session;
}

async function buildFromRequest(ports: ServicePorts, by: Principal, request: SessionRequest): Promise<FirstState> {
  const { client = by.client ?? defaultClient, workflow, file, files = {} } = request;
  const record = await demandClient(ports, by, client);
  const from = workflow === undefined ? undefined : (await versionFor(ports, workflow, request.version)).version;
  const context = withVariables(record?.variables, request.context ?? "{}");
  demandNoMark(engine.membersOf(context), "the context has");
  if (from) await demandInputs(from.workflow, context);
  let draft = from ? draftFromWorkflow(from.workflow) : emptyDraft;
  let { name = "Untitled" } = from?.workflow ?? {};
  if (file) ({ draft, name } = await draftFromFile(file, files));
  for (const node of request.nodes ?? []) {
    await demandNode(draft, node);
    draft = withNode(draft, node);
  }
  for (const edge of request.edges ?? []) draft = withEdge(draft, edge);
  const nodes = Object.fromEntries(listNodes(draft.nodes).map(({ id }) => [id, { version: 1 }]));
  const state = { draft, context, nodes, runs: [], published: [], changes: [], ...defined({ workflow }) };
  return { client, name, state };
}

/**
 * Throws `InputsRefused` if a value in the context does not fit its input. Inputs may be missing, because they may
 * follow later.
 */
async function demandInputs(workflow: Workflow, context: string): Promise<void> {
  const { required: _, ...inputs } = parseExact(textOfJson(workflow.inputs ?? {})) as Record<string, ExactValue>;
  const findings = await checkContext({ inputs: keepingDigits(JSON.stringify(inputs)) }, context, []);
  if (findings.length > 0) throw new engine.InputsRefused(findings);
}

/** Returns a session with the outcomes of its ended executions. Throws `NotFound`. */
export async function readSession(ports: ServicePorts, by: Principal, id: string): Promise<Session> {
  const read = await sessionWithin(ports, by, id);
  const session = await settleSession(ports, read);
  // If another request has changed the session in the meantime, this result is not stored, because the next reader
  // computes the same outcomes.
  if (session.revision > read.revision) await ports.sessions.replace(session, read.revision);
  return session;
}

/** Lists sessions, newest first. */
export async function listSessions(
  ports: Pick<ServicePorts, "sessions" | "clock">,
  by: Principal,
  { client = by.client ?? undefined, ...query }: PageQuery & { client?: string | undefined },
): Promise<Page<SessionSummary>> {
  if (client !== undefined && !reaches(by, client)) return { items: [] };
  const list = (range: Range) => ports.sessions.list({ ...range, client });
  const { items, ...rest } = await readPage(query, list, ({ id }) => id);
  const now = new Date(ports.clock.now()).toISOString();
  return { ...rest, items: items.filter(({ expiresAt }) => expiresAt > now) };
}

/** Deletes a session and its state machine. Its executions are kept. Throws `NotFound`. */
export async function deleteSession(ports: ServicePorts, by: Principal, id: string): Promise<void> {
  for (;;) {
    const session = await sessionWithin(ports, by, id);
    await cancelRuns(ports, session);
    const expiresAt = new Date(ports.clock.now()).toISOString();
    const over = { ...session, revision: session.revision + 1, expiresAt };
    if (!(await ports.sessions.replace(over, session.revision))) continue;
    await recordDeed(ports, by, { action: "session.deleted", client: session.client, subject: id });
    if (ports.erasureQueue) await ports.erasureQueue.enqueue({ client: session.client, session: id });
    else await removeSession(ports, over);
    return;
  }
}

/**
 * Returns the id of the API key's session with this name, or of its default session. Creates the session if it does not
 * exist or has expired. Two concurrent requests get the same session.
 */
export async function findNamedSession(ports: ServicePorts, by: Principal, name: string | undefined): Promise<string> {
  const now = ports.clock.now();
  const wanted: Attempt = {
    format: 1,
    principal: by.id,
    client: by.client ?? defaultClient,
    id: ulid(now),
    // An Idempotency-Key cannot contain a NUL, so it never collides with this key.
    key: hash("sha256", `session\0${name ?? ""}`),
    fingerprint: "session",
    since: new Date(now).toISOString(),
    expiresAt: Math.floor(now / 1000) + (usualRetentionDays * dayMs) / 1000,
  };
  const known = await ports.attempts.begin(wanted, now);
  if (known?.made !== undefined) {
    const id = `ses_${known.id}`;
    const session = await ports.sessions.get(id);
    if (session && Date.parse(session.expiresAt) > now) return id;
  }
  // If the session of the stored attempt has expired or does not exist, this request replaces that attempt. If another
  // request has just replaced it, this request uses the newer attempt.
  const isOver = known?.made !== undefined;
  const current = isOver ? await ports.attempts.begin(wanted, (known.expiresAt + 1) * 1000) : known;
  const { id } = await createSession(ports, by, {
    ulid: (current ?? wanted).id,
    name: name ?? "Default session",
    retentionDays: usualRetentionDays,
  });
  await ports.attempts.finish(wanted, JSON.stringify(id));
  return id;
}

interface RunPlace {
  run: string;
  /** The place of an entry, as restarts name it: `find`, `each[3].find`. Absent: the node that failed the run. */
  place?: string;
}

/**
 * Builds a session from one entry of a run. The session has the node of the entry and, before that node, all nodes
 * whose outputs the entry could read, with these outputs. If the session runs the node, the node starts with the
 * entry's context. Throws `ExecutionNotFound`, `NotFound`, `Refused`.
 */
async function buildFromRun(ports: ServicePorts, by: Principal, { run, place }: RunPlace) {
  const execution = await executionWithin(ports, by, run);
  if (execution.erased) throw new Refused(`the contents of ${run} were erased - take another run`);
  if (isDraftId(execution.workflowId)) throw new Refused(`${run} is a run of a session - open that session`);
  const version = await ports.workflows.get(execution.workflowId, execution.version);
  if (!version) throw new Refused(`the version of ${run} was removed - take a newer run`);
  const source = await engine.Source.read(ports, run);
  const { head } = findEntry(execution, source, place);
  const before = listOutcomesBefore(source, head);
  before.delete(head.node_id);
  const draft = draftOfNodes(version.workflow, [...before.keys(), head.node_id]);
  const node = draft.nodes.at(-1);
  if (node?.id !== head.node_id || !isStep(node))
    throw new Refused(`"${head.node_id}" is a ${head.node_type}, which does nothing by itself - name another place`);
  const context = await readStart(ports, run);
  const at = { execution: run, scope: head.scope, seq: head.seq };
  const unjudged: SessionState = {
    draft,
    context,
    workflow: execution.workflowId,
    nodes: Object.fromEntries(
      listNodes(draft.nodes).map(({ id }): [string, NodeRecord] => {
        const entry = before.get(id);
        return [id, { version: 1, ...(entry && { outcome: { ...outcomeOf(entry, run), basis: "" } }) }];
      }),
    ),
    family: { root: execution.root, last: run },
    recorded: { ...at, node: node.id, version: execution.version, context: sha256Of(context) },
    runs: [],
    published: [],
    changes: [],
  };
  const state = { ...unjudged, nodes: withBases(unjudged) };
  return { state, client: execution.client, name: `${version.workflow.name}: ${node.id}` };
}

function findEntry({ id, error }: engine.Execution, source: engine.Source, place: string | undefined) {
  const entries = Array.from(source.entries.values());
  const found =
    place === undefined
      ? entries.findLast(({ head }) => head.status === "failed" && head.node_id === error?.node)
      : source.entries.get(place);
  if (found) return found;
  if (place === undefined) throw new Refused(`${id} has no failed node - name a place of the run`);
  throw new NotFound(`${id} has no place "${place.slice(0, 200)}" - it has ${shortList([...source.entries.keys()])}`);
}

type Entry = engine.Source["last"] & object;
type Head = Entry["head"];

/** Finds the last outcome of each node that ran before an entry and whose output that entry could read. */
function listOutcomesBefore(source: engine.Source, target: Head): Map<string, Entry> {
  const found = new Map<string, Entry>();
  const maps = new Set<string>();
  for (const entry of source.entries.values()) {
    const { node_id, node_type, status, path_taken } = entry.head;
    if (!canBeRead(entry.head, target)) continue;
    if (node_type === "map") maps.add(node_id);
    if (node_type === "start" || (node_type === "map" && status === "success")) continue;
    if (status === "failed" && path_taken === null) continue;
    const fork = node_type === "join" ? node_id.replace(/\.join$/, "") : node_id;
    // Skips joins of parallel branches, because only the join of a map is the outcome of a node.
    if (node_type === "join" && !maps.has(fork)) continue;
    // The order of the last outcomes is the order in which they were applied to the context.
    found.delete(fork);
    found.set(fork, entry);
  }
  return found;
}

/**
 * Returns whether `target` could read the outcome of an entry: the entry ran before `target`, and not inside an item of
 * another map.
 */
function canBeRead(entry: Head, target: Head): boolean {
  const [own, others] = [listSteps(entry), listSteps(target)];
  const apart = own.findIndex((step, depth) => step.scope !== others[depth]?.scope || step.seq !== others[depth].seq);
  const depth = apart < 0 ? own.length - 1 : apart;
  const [mine, theirs] = [own[depth], others[depth]];
  if (!mine || !theirs || mine.scope !== theirs.scope) return false;
  const isAround = depth === own.length - 1 && mine.seq === theirs.seq && depth < others.length - 1;
  if (mine.seq > theirs.seq || (mine.seq === theirs.seq && !isAround)) return false;
  return own.slice(depth + 1).every(({ scope }) => !engine.isItem(engine.branchOf(scope)?.branch ?? ""));
}

/**
 * Lists the scope and number of each fork that contains an entry, outermost first, and then the scope and number of the
 * entry itself.
 */
function listSteps({ scope, seq }: Pick<Head, "scope" | "seq">): { scope: string; seq: number }[] {
  const branch = engine.branchOf(scope);
  return [...(branch ? listSteps({ scope: branch.parent, seq: branch.seq }) : []), { scope, seq }];
}

/** Gives each outcome the basis of its recorded inputs, so that it is fresh until the draft changes. */
function withBases(state: SessionState): Record<string, NodeRecord> {
  const all = judgeFreshness(state, buildDraftGraph(state.draft));
  return Object.fromEntries(
    Object.entries(state.nodes).map(([id, { version, outcome }]) => {
      const basis = all.get(id)?.basis ?? "";
      return [id, { version, ...(outcome && { outcome: { ...outcome, basis } }) }];
    }),
  );
}

/** Returns the initial context of a run as JSON text. Large values are references to the blobs of the run. */
async function readStart(ports: ServicePorts, execution: string): Promise<string> {
  const context = await engine.readInput(ports, { execution, scope: "", seq: 1 });
  return engine.objectText(context.slots().filter(({ key }) => !key.startsWith("$")));
}
