import type { Session, SessionRun } from "@nova/client";
import { useQuery } from "@tanstack/react-query";
import { type JSX, useState } from "react";
import { Link, useLocation, useParams } from "wouter";
import { useNova } from "../../api/nova.ts";
import { asRaw } from "../../json/raw.ts";
import { useAddress } from "../../parts/address.ts";
import { Button, IconButton } from "../../parts/button.tsx";
import { Icon } from "../../parts/icon.tsx";
import { JsonView } from "../../parts/json-view.tsx";
import { useKeys } from "../../parts/keyboard.tsx";
import { Missing } from "../../parts/page.tsx";
import { Empty, ErrorNote, isNotFound, QueryView } from "../../parts/states.tsx";
import { type RunStatus, StatusBadge } from "../../parts/status.tsx";
import { Time } from "../../parts/time.tsx";
import { UntrustedText } from "../../parts/untrusted-text.tsx";
import { texts } from "../../texts.ts";
import { AddEdge, AddNode, Publish, RemoveSession } from "./dialogs.tsx";
import { countStates, type NodeEdit } from "./draft.ts";
import { SessionNodePanel } from "./node-panel.tsx";
import { SessionGraph } from "./session-graph.tsx";
import { useOutputs, useSession, useSessionAction } from "./use-session.ts";
import "../workflow/workflow-page.css";
import "./session-page.css";

const words = texts.sessions;

/** A session: a draft that the user runs and edits node by node. */
export function SessionPage(): JSX.Element {
  const { id = "" } = useParams<{ id: string }>();
  const session = useSession(id);
  if (isNotFound(session.error)) return <Missing words={words} to="/sessions" />;
  return <QueryView query={session}>{(data) => <Draft key={id} session={data} />}</QueryView>;
}

function Draft({ session }: { session: Session }): JSX.Element {
  const { session_id: id, nodes } = session;
  const nova = useNova();
  const { outputs, error } = useOutputs(session);
  const [{ node: selectedId }, change] = useAddress(["node"]);
  const [dialog, setDialog] = useState<SessionDialog>();
  const [edits, setEdits] = useState<Readonly<Record<string, NodeEdit | undefined>>>({});
  const run = useSessionAction(id, (node: string | undefined) =>
    node === undefined ? nova.sessions.run(id) : nova.sessions.runNode(id, node),
  );
  const select = (node: string | undefined) => change({ node });
  const close = () => setDialog(undefined);
  const isRunning = run.isPending || session.running.length > 0;
  useDraftKeys({
    session,
    selectedId,
    select,
    run: () => !isRunning && run.mutate(undefined),
    add: () => setDialog("node"),
  });
  const node = nodes.find(({ node_id }) => node_id === selectedId);
  return (
    <>
      <SessionHead session={session} isRunning={isRunning} onDialog={setDialog} onRun={() => run.mutate(undefined)} />
      <RunNote session={session} answer={run.data} isPending={run.isPending} onDismiss={run.reset} />
      {(run.error || error) && (
        <div className="session-trouble">
          <ErrorNote error={run.error ?? error} />
        </div>
      )}
      <div className="definition" data-chosen={node !== undefined || undefined}>
        <div className="definition-graph">
          {nodes.length === 0 ? (
            <Empty icon="flow" title={words.noNodes} hint={words.noNodesHint}>
              <Button icon="plus" onClick={() => setDialog("node")}>
                {words.addNode.title}
              </Button>
            </Empty>
          ) : (
            <SessionGraph session={session} outputs={outputs} selected={selectedId} onSelect={select} />
          )}
        </div>
        <aside className="definition-side" aria-label={words.side}>
          {node ? (
            <SessionNodePanel
              key={node.node_id}
              session={session}
              node={node}
              isRunning={isRunning}
              output={outputs?.get(node.node_id)}
              edit={edits[node.node_id]}
              onEdit={(one) => setEdits((before) => ({ ...before, [node.node_id]: one }))}
              onRun={() => run.mutate(node.node_id)}
              onClose={() => select(undefined)}
            />
          ) : (
            <Overview session={session} />
          )}
        </aside>
      </div>
      {dialog === "node" && (
        <AddNode
          session={session}
          after={node?.node_id}
          onAdded={(one) => {
            select(one);
            close();
          }}
          onClose={close}
        />
      )}
      {dialog === "edge" && <AddEdge session={session} from={node?.node_id} onClose={close} />}
      {dialog === "publish" && <Publish session={session} onClose={close} />}
    </>
  );
}

interface DraftKeys {
  session: Session;
  selectedId: string | undefined;
  select(node: string | undefined): void;
  run(): void;
  add(): void;
}

function useDraftKeys({ session: { nodes }, selectedId, select, run, add }: DraftKeys): void {
  const step = (by: number) => {
    const at = nodes.findIndex(({ node_id }) => node_id === selectedId);
    const next = nodes[at < 0 ? (by > 0 ? 0 : nodes.length - 1) : Math.max(0, Math.min(nodes.length - 1, at + by))];
    if (next) select(next.node_id);
  };
  useKeys({
    j: { label: words.keys.next, run: () => step(1) },
    k: { label: words.keys.previous, run: () => step(-1) },
    r: { label: words.keys.run, run },
    a: { label: words.keys.add, run: add },
    Escape: { label: texts.keys.close, run: () => select(undefined) },
  });
}

/** The open dialog of the page. */
export type SessionDialog = "node" | "edge" | "publish";

interface SessionHeadProps {
  session: Session;
  isRunning: boolean;
  onDialog(dialog: SessionDialog): void;
  onRun(): void;
}

/** The name of the session and its actions. */
export function SessionHead({ session, isRunning, onDialog, onRun }: SessionHeadProps): JSX.Element {
  const [, go] = useLocation();
  const [isDeleting, setDeleting] = useState(false);
  const { name, nodes } = session;
  return (
    <header className="page-head session-head">
      <Link href="/sessions" className="icon-button" aria-label={words.back} title={words.back}>
        <Icon name="back" />
      </Link>
      <h1>
        <UntrustedText text={name} />
      </h1>
      <span className="page-head-end">
        <Button icon="play" tone="main" disabled={isRunning || nodes.length === 0} onClick={onRun}>
          {words.run.all}
        </Button>
        <Button icon="plus" onClick={() => onDialog("node")}>
          {words.addNode.title}
        </Button>
        <Button icon="branch" disabled={nodes.length < 2} onClick={() => onDialog("edge")}>
          {words.addEdge.title}
        </Button>
        <Button icon="upload" disabled={nodes.length === 0} onClick={() => onDialog("publish")}>
          {words.publish.title}
        </Button>
        <IconButton icon="bin" label={words.removeOne(name)} onClick={() => setDeleting(true)} />
      </span>
      {isDeleting && (
        <RemoveSession session={session} onRemoved={() => go("/sessions")} onClose={() => setDeleting(false)} />
      )}
    </header>
  );
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
export function RunNote({ session: { running }, answer, isPending, onDismiss }: RunNoteProps): JSX.Element {
  const [other] = running.filter((id) => id !== answer?.execution_id);
  return (
    <div role="status" className="session-notes">
      {isPending || other !== undefined ? (
        <p className="session-note">
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

interface AnswerProps {
  answer: SessionRun;
  isOpen: boolean;
  onDismiss(): void;
}

function Answer({ answer, isOpen, onDismiss }: AnswerProps): JSX.Element {
  const { execution_id: id, reused } = answer;
  const { status, error } = useEnd(answer, isOpen);
  const isOver = !open.has(status);
  const nodes = listNodesOfRun(answer, isOver).join(", ");
  const ranSentence = nodes === "" ? "" : isOver ? runWords.ran(nodes) : runWords.inProgress(nodes);
  const sentences =
    id === null ? [runWords.fresh] : [ranSentence, reused.length > 0 ? runWords.reused(reused.join(", ")) : ""];
  return (
    <p className="session-note">
      {id !== null && <StatusBadge status={status} />}
      <span>
        <UntrustedText text={sentences.join(" ").trim()} />
        {error && (
          <span className="session-failed">
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

/** Lists the nodes of a run. A finished run reports only the nodes that it reached. */
function listNodesOfRun({ status, runs, ran }: SessionRun, isOver: boolean): string[] {
  return isOver && !open.has(status) ? ran : runs;
}

/** Reads the end of a run that took longer than its request. */
function useEnd(
  { execution_id: id, status, error }: SessionRun,
  isOpen: boolean,
): Pick<SessionRun, "status" | "error"> {
  const nova = useNova();
  const { data } = useQuery({
    queryKey: ["session-run", id],
    enabled: id !== null && open.has(status) && !isOpen,
    queryFn: () => nova.executions.get(id as string),
  });
  return data ? { status: data.status, error: data.error ?? null } : { status, error };
}

function RunLink({ id }: { id: string }): JSX.Element {
  return (
    <Link href={`/runs/${id}`} className="session-link">
      {runWords.open}
    </Link>
  );
}

const maxChanges = 10;

/** Facts about the draft, and its last changes. */
export function Overview({ session }: { session: Session }): JSX.Element {
  const { nodes, shape, workflow, client_slug, expires_at, changes } = session;
  const { stale, fresh } = countStates(nodes);
  return (
    <div className="definition-body">
      <dl className="session-facts">
        <dt>{words.columns.nodes}</dt>
        <dd>{words.counts(stale, fresh)}</dd>
        <dt>{words.columns.client}</dt>
        <dd className="mono">{client_slug}</dd>
        <dt>{words.columns.workflow}</dt>
        <dd>
          {workflow === null ? (
            words.ownDraft
          ) : (
            <Link href={`/workflows/${workflow}`} className="session-link">
              {workflow}
            </Link>
          )}
        </dd>
        <dt>{words.columns.until}</dt>
        <dd>
          <Time at={expires_at} />
        </dd>
      </dl>
      <p className="quiet">{words.pick}</p>
      <section>
        <h2>{words.context}</h2>
        <div className="session-value">
          <JsonView text={asRaw(session.context).text} />
        </div>
      </section>
      {shape.kind === "line" && (
        <p className="quiet">
          <UntrustedText text={shape.why ?? words.line} />
        </p>
      )}
      {shape.findings.length > 0 && (
        <section>
          <h2>{words.findings}</h2>
          <ul className="findings">
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
          <ol className="session-changes">
            {changes
              .slice(-maxChanges)
              .reverse()
              .map(({ revision, at, by, what }) => (
                <li key={revision}>
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
