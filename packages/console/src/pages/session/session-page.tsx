import type { Session, SessionRun } from "@nova/client";
import { useMutation, useQuery } from "@tanstack/react-query";
import { useCallback, useMemo, useState } from "react";
import { Link, useParams } from "wouter";
import { useNova } from "../../api/nova.ts";
import { Button, IconButton } from "../../parts/button.tsx";
import { DialogButton, OpenDialog } from "../../parts/dialog.tsx";
import { Segments } from "../../parts/field.tsx";
import { useAddress } from "../../parts/filters.tsx";
import type { GraphEdge, GraphNode } from "../../parts/graph/definition.ts";
import type { GraphEditing } from "../../parts/graph/editing.tsx";
import { type CardLook, type EdgeLook, type Folding, GraphView } from "../../parts/graph/graph-view.tsx";
import { Icon } from "../../parts/icon.tsx";
import { useKeys, useStepKeys } from "../../parts/keyboard.tsx";
import { PageHead } from "../../parts/page.tsx";
import { Empty, ErrorNote, QueryView } from "../../parts/states.tsx";
import { type RunStatus, StatusBadge } from "../../parts/status.tsx";
import { UntrustedText } from "../../parts/untrusted-text.tsx";
import { texts } from "../../texts.ts";
import { AddEdge, AddNode, Publish, RemoveSession } from "./dialogs.tsx";
import {
  buildDraftGraph,
  classifyNode,
  findSessionNode,
  formatEdgeCondition,
  isWithin,
  listMapsTo,
  readDefinition,
  readScope,
  type Scope,
  summarizeOutput,
} from "./draft.ts";
import { connect, moveNode, type NewPlace, readBody, removeNode } from "./draft-doc.ts";
import { DraftOverview } from "./draft-overview.tsx";
import { DraftTools } from "./draft-tools.tsx";
import { JsonTab } from "./json-tab.tsx";
import { lazyForm } from "./lazy-form.tsx";
import { freshnessLooks, SessionNodePanel } from "./node-panel.tsx";
import { usePublicationFindings } from "./publish-changes.tsx";
import { type DraftEditing, useDraft } from "./use-draft.ts";
import { type OutputText, useOutputs, useSession, useSessionReload } from "./use-session.ts";

const words = texts.sessions;
const buildWords = texts.build;
const views = ["graph", "settings", "json"] as const;

export function SessionPage() {
  const { id = "" } = useParams<{ id: string }>();
  const session = useSession(id);
  return (
    <QueryView query={session} missing={{ words, to: "/sessions" }}>
      {(data) => <Draft key={id} session={data} />}
    </QueryView>
  );
}

function Draft({ session: whole }: { session: Session }) {
  const { session_id: id } = whole;
  const nova = useNova();
  const { outputs, error } = useOutputs(whole);
  const [{ node: selectedId, view, in: wanted }, change] = useAddress(["node", "view", "in"]);
  const [adding, setAdding] = useState<Adding>();
  const session = useMemo(() => readScope(whole, wanted), [whole, wanted]);
  const { nodes, map } = session;
  const draft = useDraft(whole, map);
  const run = useMutation({
    mutationFn: (node: string | undefined) =>
      node === undefined ? nova.sessions.run(id) : nova.sessions.runNode(id, node),
    onSettled: useSessionReload(id),
  });
  const select = useCallback((node: string | undefined) => change({ node }), [change]);
  const isRunning = run.isPending || session.running.length > 0;
  const node = session.ids.includes(selectedId ?? "") ? findSessionNode(session, selectedId) : undefined;
  const enter = useCallback((one: string | undefined) => change({ in: one, node: undefined }), [change]);
  const enterSelected = node && readBody(readDefinition(node)) ? () => enter(node.node_id) : undefined;
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
    a: { label: words.keys.add, run: () => setAdding({ place }) },
    u: { label: buildWords.keys.undo, run: () => void draft.undo() },
    U: { label: buildWords.keys.redo, run: () => void draft.redo() },
    o: { label: buildWords.inside.keyOpen, run: () => enterSelected?.() },
    Escape: {
      label: texts.keys.close,
      run: () => (selectedId === undefined ? enter(listMapsTo(whole, map).at(-2)) : select(undefined)),
    },
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
              disabled={isRunning || whole.nodes.length === 0}
              onClick={() => run.mutate(undefined)}
            >
              {words.run.all}
            </Button>
            {addNode}
            <DialogButton
              icon="branch"
              disabled={nodes.length < 2}
              label={words.addEdge.title}
              dialog={<AddEdge session={session} from={place?.after} draft={draft} />}
            />
            <DialogButton
              icon="upload"
              disabled={whole.nodes.length === 0}
              label={words.publish.title}
              dialog={<Publish session={whole} />}
            />
            <DraftTools session={whole} draft={draft} />
            <RemoveSession session={session} />
          </>
        }
      />
      <div className="bar line">
        <Segments
          label={buildWords.views.label}
          choices={views.map((one) => [one, buildWords.views[one]] as const)}
          value={views.find((one) => one === view) ?? "graph"}
          onChange={(one) => change({ view: one === "graph" ? undefined : one })}
        />
        {view === undefined && map !== undefined && <MapPath session={whole} map={map} />}
      </div>
      <RunNote session={whole} answer={run.data} isPending={run.isPending} onDismiss={run.reset} />
      {(run.error || error || draft.error) && (
        <div className="bar">
          <ErrorNote error={run.error ?? error ?? draft.error} />
        </div>
      )}
      {view === "json" ? (
        <JsonTab session={whole} />
      ) : view === "settings" ? (
        <Settings session={whole} draft={draft} />
      ) : (
        <div className="definition split" data-chosen={node !== undefined || undefined}>
          <div className="definition-graph">
            {nodes.length === 0 ? (
              <Empty icon="flow" title={map ? buildWords.inside.empty : words.noNodes} hint={words.noNodesHint}>
                {addNode}
              </Empty>
            ) : (
              <SessionGraph
                key={map}
                session={session}
                outputs={outputs}
                selected={selectedId}
                onSelect={select}
                onEnter={enter}
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
                onEnter={enterSelected}
              />
            ) : (
              <DraftOverview session={whole} map={map} />
            )}
          </aside>
        </div>
      )}
      {adding && (
        <OpenDialog value={() => setAdding(undefined)}>
          <AddNode session={session} place={adding.place} draft={draft} onAdded={select} />
        </OpenDialog>
      )}
    </>
  );
}

const Settings = lazyForm(async () => (await import("./schema-forms.tsx")).SettingsTab);

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
          <span>{isPending ? texts.fix.running : runWords.going}</span>
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
      {texts.run.open}
    </Link>
  );
}

/** Links to the maps that contain the visible nodes. Each link shows the nodes in the body of its map. */
function MapPath({ session, map }: { session: Session; map: string }) {
  const words = buildWords.inside;
  const maps = listMapsTo(session, map);
  const address = (one?: string) => `/sessions/${session.session_id}${one === undefined ? "" : `?in=${one}`}`;
  return (
    <nav className="row tight" aria-label={words.path}>
      <Link href={address()} className="link in-text">
        {texts.workflows.draft}
      </Link>
      {maps.map((one) => (
        <span key={one} className="row tight">
          <Icon name="right" size={12} />
          {one === map ? (
            <b aria-current="page">
              <UntrustedText text={one} />
            </b>
          ) : (
            <Link href={address(one)} className="link in-text">
              <UntrustedText text={one} />
            </Link>
          )}
        </span>
      ))}
    </nav>
  );
}

/** Heights of a card in pixels: with an output, and without an output. */
const [stepHeight, bareHeight] = [74, 50];

interface SessionGraphProps {
  session: Scope;
  /** The outputs by node; undefined while they load. */
  outputs: ReadonlyMap<string, OutputText> | undefined;
  selected: string | undefined;
  onSelect(node: string): void;
  /** Opens the nodes of a map. */
  onEnter(map: string): void;
  draft: DraftEditing;
  onAdd(adding: Adding): void;
}

/**
 * Shows the graph of the draft. Each card shows the version of the node, whether the node is fresh, and the start of
 * its output.
 */
function SessionGraph({ session, outputs, selected, onSelect, onEnter, draft, onAdd }: SessionGraphProps) {
  const { nodes, edges, layout: positions } = session;
  const { draw } = draft;
  const graph = useMemo(() => buildDraftGraph({ nodes, edges }), [nodes, edges]);
  const { data: checked } = usePublicationFindings(session);
  const describeCard = useCallback(
    ({ id, type }: GraphNode): CardLook => {
      const node = nodes.find(({ node_id }) => node_id === id);
      if (!node) return { tone: "idle", state: "plain", note: type };
      const findings = checked?.findings.filter((one) => one.node && isWithin(session, one.node, id)).length ?? 0;
      const { text, error = null, version } = outputs?.get(id) ?? {};
      const state = classifyNode(node);
      const { tone, icon } = freshnessLooks[state];
      const facts = [
        texts.workflows.version(node.version),
        words.states[state],
        ...(findings > 0 ? [texts.workflows.graph.findings(findings)] : []),
      ];
      // The page reads the outputs after the session, so a node may be fresh while the page still has its earlier
      // output.
      const isLate = node.state === "fresh" && version !== undefined && version !== node.version;
      const output = error ?? (text !== undefined ? summarizeOutput(text) : outputs ? words.noOutput : "…");
      const line = isLate ? { text: "…", isBad: false } : { text: output, isBad: error !== null };
      return { tone, state, note: facts.join(" · "), mark: { icon, label: words.states[state] }, line };
    },
    [nodes, outputs, checked, session],
  );
  const folding = useMemo((): Folding => {
    const maps = nodes.filter((node) => readBody(readDefinition(node))).map(({ node_id }) => node_id);
    return { opened: new Set(), toggle: onEnter, canOpen: ({ id }) => maps.includes(id) };
  }, [nodes, onEnter]);
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
      folding={folding}
      graph={graph}
      label={words.graph}
      describeCard={describeCard}
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

function styleEdge({ label, max }: GraphEdge): EdgeLook {
  const text = max === undefined ? label : `${label} ${words.addEdge.limit(max)}`;
  return { state: "idle", label: text, isAbove: false };
}
