import type { Session, SessionRun } from "@nova/client";
import { useQuery } from "@tanstack/react-query";
import { useCallback, useMemo, useState } from "react";
import { Link, useParams } from "wouter";
import { useNova } from "../../api/nova.ts";
import { asRaw } from "../../json/raw.ts";
import { Button, IconButton } from "../../parts/button.tsx";
import { DialogButton } from "../../parts/dialog.tsx";
import { Segments } from "../../parts/field.tsx";
import { useAddress } from "../../parts/filters.tsx";
import type { GraphEdge, GraphNode } from "../../parts/graph/definition.ts";
import type { GraphEditing } from "../../parts/graph/editing.tsx";
import { type CardData, type CardLook, type EdgeLook, GraphView } from "../../parts/graph/graph-view.tsx";
import { Icon } from "../../parts/icon.tsx";
import { JsonView } from "../../parts/json-view.tsx";
import { useKeys, useStepKeys } from "../../parts/keyboard.tsx";
import { type Fact, Facts, PageHead } from "../../parts/page.tsx";
import { Empty, ErrorNote, QueryView } from "../../parts/states.tsx";
import { type RunStatus, StatusBadge } from "../../parts/status.tsx";
import { Time } from "../../parts/time.tsx";
import { UntrustedText } from "../../parts/untrusted-text.tsx";
import { WorkflowName } from "../../parts/workflow-name.tsx";
import { texts } from "../../texts.ts";
import { AddEdge, AddNode, Publish, RemoveSession } from "./dialogs.tsx";
import {
  buildDraftGraph,
  classifyNode,
  countStates,
  findSessionNode,
  formatEdgeCondition,
  type NodeFreshness,
  summarizeOutput,
} from "./draft.ts";
import { connect, listTriggers, moveNode, type NewPlace, removeNode } from "./draft-doc.ts";
import { DraftTools } from "./draft-tools.tsx";
import { JsonTab } from "./json-tab.tsx";
import { lazyForm } from "./lazy-form.tsx";
import { freshnessLooks, SessionNodePanel } from "./node-panel.tsx";
import { usePublicationFindings } from "./publish-changes.tsx";
import { type DraftEditing, useDraft } from "./use-draft.ts";
import { type OutputText, useOutputs, useSession, useSessionAction } from "./use-session.ts";

const words = texts.sessions;
const buildWords = texts.build;

export function SessionPage() {
  const { id = "" } = useParams<{ id: string }>();
  const session = useSession(id);
  return (
    <QueryView query={session} missing={{ words, to: "/sessions" }}>
      {(data) => <Draft key={id} session={data} />}
    </QueryView>
  );
}

function Draft({ session }: { session: Session }) {
  const { session_id: id, nodes } = session;
  const nova = useNova();
  const { outputs, error } = useOutputs(session);
  const [{ node: selectedId, view }, change] = useAddress(["node", "view"]);
  const [adding, setAdding] = useState<Adding>();
  const draft = useDraft(session);
  const run = useSessionAction(id, (node: string | undefined) =>
    node === undefined ? nova.sessions.run(id) : nova.sessions.runNode(id, node),
  );
  const select = useCallback((node: string | undefined) => change({ node }), [change]);
  const isRunning = run.isPending || session.running.length > 0;
  const node = findSessionNode(session, selectedId);
  const isStep = nodes.some(({ node_id }) => node_id === selectedId);
  const place = isStep && selectedId !== undefined ? { after: selectedId } : undefined;
  useStepKeys(
    nodes.map(({ node_id }) => node_id),
    selectedId,
    select,
    words.keys,
  );
  useKeys({
    r: { label: words.keys.run, run: () => !isRunning && run.mutate(undefined) },
    a: {
      label: words.keys.add,
      run: () => setAdding({ place }),
    },
    u: { label: buildWords.keys.undo, run: () => void draft.undo() },
    U: { label: buildWords.keys.redo, run: () => void draft.redo() },
    Escape: { label: texts.keys.close, run: () => select(undefined) },
  });
  const addNode = (
    <Button icon="plus" onClick={() => setAdding({ place })}>
      {words.addNode.title}
    </Button>
  );
  return (
    <>
      <PageHead
        title={<UntrustedText text={session.name} />}
        back={{ to: "/sessions", label: words.back }}
        className="page-head-acts"
        end={
          <>
            <Button
              icon="play"
              tone="main"
              disabled={isRunning || nodes.length === 0}
              onClick={() => run.mutate(undefined)}
            >
              {words.run.all}
            </Button>
            {addNode}
            <DialogButton
              icon="branch"
              disabled={nodes.length < 2}
              label={words.addEdge.title}
              dialog={(close) => <AddEdge session={session} from={place?.after} draft={draft} onClose={close} />}
            />
            <DialogButton
              icon="upload"
              disabled={nodes.length === 0}
              label={words.publish.title}
              dialog={(close) => <Publish session={session} onClose={close} />}
            />
            <DraftTools session={session} draft={draft} />
            <RemoveSession session={session} />
          </>
        }
      />
      <div className="bar row">
        <Segments
          label={buildWords.views.label}
          choices={[
            ["graph", buildWords.views.graph],
            ["settings", buildWords.views.settings],
            ["json", buildWords.views.json],
          ]}
          value={view === "json" || view === "settings" ? view : "graph"}
          onChange={(one) => change({ view: one === "graph" ? undefined : one })}
        />
      </div>
      <RunNote session={session} answer={run.data} isPending={run.isPending} onDismiss={run.reset} />
      {(run.error || error || draft.error) && (
        <div className="bar">
          <ErrorNote error={run.error ?? error ?? draft.error} />
        </div>
      )}
      {view === "json" ? (
        <JsonTab session={session} />
      ) : view === "settings" ? (
        <Settings session={session} draft={draft} />
      ) : (
        <div className="definition split" data-chosen={node !== undefined || undefined}>
          <div className="definition-graph">
            {nodes.length === 0 ? (
              <Empty icon="flow" title={words.noNodes} hint={words.noNodesHint}>
                {addNode}
              </Empty>
            ) : (
              <SessionGraph
                session={session}
                outputs={outputs}
                selected={selectedId}
                onSelect={select}
                draft={draft}
                onAdd={setAdding}
              />
            )}
          </div>
          <aside className="pane pane-side" aria-label={words.side}>
            {node ? (
              <SessionNodePanel
                key={node.node_id}
                session={session}
                node={node}
                isRunning={isRunning}
                output={outputs?.get(node.node_id)}
                onRun={() => run.mutate(node.node_id)}
                draft={draft}
                onSelect={select}
              />
            ) : (
              <Overview session={session} />
            )}
          </aside>
        </div>
      )}
      {adding && (
        <AddNode
          session={session}
          place={adding.place}
          draft={draft}
          onAdded={select}
          onClose={() => setAdding(undefined)}
        />
      )}
    </>
  );
}

const Settings = lazyForm(async () => (await import("./settings-tab.tsx")).SettingsTab);

/** A new node that the user describes in a dialog. */
interface Adding {
  place: NewPlace;
}

const runWords = texts.sessions.run;
const open = new Set<RunStatus>(["queued", "running", "waiting"]);

interface RunNoteProps {
  session: Session;
  answer: SessionRun | undefined;
  isPending: boolean;
  onDismiss(): void;
}

/** The result of the last run: executed nodes, reused nodes and the error. */
function RunNote({ session: { running }, answer, isPending, onDismiss }: RunNoteProps) {
  const [other] = running.filter((id) => id !== answer?.execution_id);
  return (
    <div role="status">
      {isPending || other !== undefined ? (
        <p className="session-note bar row break">
          <StatusBadge status="running" />
          <span>{isPending ? runWords.busy : runWords.going}</span>
          {other !== undefined && <RunLink id={other} />}
        </p>
      ) : (
        answer && <Answer answer={answer} isOpen={running.length > 0} onDismiss={onDismiss} />
      )}
    </div>
  );
}

function Answer({ answer, isOpen, onDismiss }: { answer: SessionRun; isOpen: boolean; onDismiss(): void }) {
  const { execution_id: id, reused } = answer;
  const nova = useNova();
  const isLong = open.has(answer.status);
  // Reads the result of a run that had not ended when its request was answered.
  const { data: end } = useQuery({
    queryKey: ["session-run", id],
    enabled: id !== null && isLong && !isOpen,
    queryFn: () => nova.executions.get(id as string),
  });
  const { status, error } = end ?? answer;
  const isOver = !open.has(status);
  // `ran` lists the nodes that the run reached; it is known only if the run ended within the request. `runs` lists all
  // planned nodes.
  const nodes = (isLong ? answer.runs : answer.ran).join(", ");
  const describeNodes = isOver ? runWords.ran : runWords.inProgress;
  const ranSentence = nodes === "" ? "" : describeNodes(nodes);
  const sentences =
    id === null ? [runWords.fresh] : [ranSentence, reused.length > 0 ? runWords.reused(reused.join(", ")) : ""];
  return (
    <p className="session-note bar row break">
      {id !== null && <StatusBadge status={status} />}
      <span>
        <UntrustedText text={sentences.join(" ").trim()} />
        {error && (
          <span className="bad">
            {" "}
            <UntrustedText text={runWords.failed(error.node, error.message)} />
          </span>
        )}
      </span>
      {id !== null && <RunLink id={id} />}
      <IconButton icon="cross" label={runWords.dismiss} onClick={onDismiss} />
    </p>
  );
}

function RunLink({ id }: { id: string }) {
  return (
    <Link href={`/runs/${id}`} className="link in-text">
      {runWords.open}
    </Link>
  );
}

const maxChanges = 10;

function Overview({ session }: { session: Session }) {
  const { nodes, shape, workflow, client_slug, expires_at, changes } = session;
  const { stale, fresh } = countStates(nodes);
  const origin = workflow !== null && (
    <Link href={`/workflows/${workflow}`} className="link in-text">
      <WorkflowName id={workflow} />
    </Link>
  );
  const kinds: Readonly<Record<string, string>> = buildWords.triggers.kinds;
  const triggers = listTriggers(session.settings).map(({ type }) => kinds[String(type)] ?? String(type));
  const facts: Fact[] = [
    [
      buildWords.triggers.title,
      <Link key="triggers" href={`/sessions/${session.session_id}?view=settings`} className="link in-text">
        <UntrustedText text={triggers.join(", ") || buildWords.triggers.add} />
      </Link>,
    ],
    [words.columns.nodes, words.counts(stale, fresh)],
    [words.columns.client, client_slug, "mono"],
    [words.columns.workflow, origin || words.ownDraft],
    [words.columns.until, <Time key="until" at={expires_at} />],
  ];
  return (
    <div className="pane-body stack loose">
      <Facts className="session-facts" facts={facts} />
      <p className="quiet">{words.pick}</p>
      <section>
        <h2>{words.context}</h2>
        <div className="session-value well">
          <JsonView text={asRaw(session.context).text} />
        </div>
      </section>
      {shape.kind === "line" && <UntrustedText as="p" className="quiet" text={shape.why ?? words.line} />}
      {shape.findings.length > 0 && (
        <section>
          <h2>{words.findings}</h2>
          <ul className="findings stack">
            {shape.findings.map(({ code, path, message }) => (
              <li key={`${code} ${path} ${message}`} className="tone-bad">
                <b>{code}</b> <UntrustedText text={message} />
              </li>
            ))}
          </ul>
        </section>
      )}
      {changes.length > 0 && (
        <section>
          <h2>{words.changes}</h2>
          <ol className="stack">
            {changes
              .slice(-maxChanges)
              .reverse()
              .map(({ revision, at, by, what }) => (
                <li key={revision} className="stack tight break">
                  <UntrustedText text={what} />
                  <span className="quiet">
                    <UntrustedText text={words.change(by)} /> <Time at={at} />
                  </span>
                </li>
              ))}
          </ol>
        </section>
      )}
    </div>
  );
}

/** Heights of a card in pixels: with an output, and without an output. */
const [stepHeight, bareHeight] = [74, 50];

interface SessionCardData {
  version?: number;
  state?: NodeFreshness;
  line?: string;
  isBad?: boolean;
  /** Number of findings at the node. */
  findings?: number;
}

interface SessionGraphProps {
  session: Session;
  /** The outputs by node; undefined while they load. */
  outputs: ReadonlyMap<string, OutputText> | undefined;
  selected: string | undefined;
  onSelect(node: string): void;
  draft: DraftEditing;
  onAdd(adding: Adding): void;
}

/** The graph of the draft: each node with version, freshness and the start of its output. */
function SessionGraph({ session, outputs, selected, onSelect, draft, onAdd }: SessionGraphProps) {
  const { nodes, edges, layout: positions } = session;
  const { draw } = draft;
  const graph = useMemo(() => buildDraftGraph({ nodes, edges }), [nodes, edges]);
  const { data: checked } = usePublicationFindings(session);
  const dataOf = useCallback(
    ({ id }: GraphNode): SessionCardData => {
      const node = nodes.find(({ node_id }) => node_id === id);
      if (!node) return {};
      const findings = checked?.findings.filter((one) => one.node === id).length ?? 0;
      const { text, error = null, version } = outputs?.get(id) ?? {};
      // The outputs are read after the session, so a node may be fresh while its output is still the earlier one.
      const isLate = node.state === "fresh" && version !== undefined && version !== node.version;
      if (isLate) return { version: node.version, state: classifyNode(node), line: "…", findings };
      const line = error ?? (text !== undefined ? summarizeOutput(text) : outputs ? words.noOutput : "…");
      return { version: node.version, state: classifyNode(node), line, isBad: error !== null, findings };
    },
    [nodes, outputs, checked],
  );
  const editing = useMemo(
    (): GraphEditing => ({
      positions,
      onMove: (id, place) => void draw((doc) => moveNode(doc, id, place)),
      onConnect: (from, to) => void draw((doc) => connect(doc, from, to)),
      onInsert: ({ from, to, label }) => {
        const edge = edges.find((one) => one.from === from && one.to === to && formatEdgeCondition(one) === label);
        onAdd({ place: edge ? { edge } : { after: from } });
      },
      onAppend: (after) => onAdd({ place: { after } }),
      onDelete: (id) => void draw((doc) => removeNode(doc, id)),
    }),
    [positions, draw, edges, onAdd],
  );
  return (
    <GraphView
      editing={editing}
      graph={graph}
      label={words.graph}
      showCard={showCard}
      dataOf={dataOf}
      lookOf={styleEdge}
      selected={selected}
      onSelect={onSelect}
      getHeight={getHeight}
    />
  );
}

function getHeight({ type }: GraphNode): number {
  return type === "start" || type === "end" ? bareHeight : stepHeight;
}

function styleEdge({ label }: GraphEdge): EdgeLook {
  return { state: "idle", label, isAbove: false };
}

function showCard({ version, state, line = "", isBad, findings = 0, node }: SessionCardData & CardData): CardLook {
  if (state === undefined || version === undefined) return { tone: "idle", state: "plain", note: node.type };
  const { tone, icon } = freshnessLooks[state];
  const end = (
    <span className={`node-state center tone-${tone}`}>
      <Icon name={icon} size={14} />
    </span>
  );
  const children = (
    <UntrustedText as="p" className={`node-line ellipsis mono quiet ${isBad ? "bad" : ""}`} text={line} />
  );
  const facts = [words.version(version), words.states[state], ...(findings > 0 ? [words.atNode(findings)] : [])];
  return { tone, state, note: facts.join(" · "), end, children };
}
