import type { Session } from "@nova/client";
import { type JSX, useState } from "react";
import { useParams } from "wouter";
import { useNova } from "../../api/nova.ts";
import { useAddress } from "../../parts/address.ts";
import { Button } from "../../parts/button.tsx";
import { useKeys } from "../../parts/keys.tsx";
import { Missing } from "../../parts/page-head.tsx";
import { Read } from "../../parts/read.tsx";
import { Empty } from "../../parts/states.tsx";
import { isMissing, Trouble } from "../../parts/trouble.tsx";
import { texts } from "../../texts.ts";
import { AddEdge, AddNode } from "./add.tsx";
import type { Typed } from "./draft.ts";
import { NodePanel } from "./node-panel.tsx";
import { Overview } from "./overview.tsx";
import { Publish } from "./publish.tsx";
import { RunNote } from "./run-note.tsx";
import { SessionGraph } from "./session-graph.tsx";
import { type Asked, SessionHead } from "./session-head.tsx";
import { useAct, useOutputs, useSession } from "./use-session.ts";
import "../workflow/graph/graph-tab.css";
import "./session-page.css";

const words = texts.sessions;

/** A draft that is run and changed node by node. */
export function SessionPage(): JSX.Element {
  const { id = "" } = useParams<{ id: string }>();
  const session = useSession(id);
  if (isMissing(session.error)) return <Missing words={words} to="/sessions" />;
  return <Read query={session}>{(data) => <Draft key={id} session={data} />}</Read>;
}

function Draft({ session }: { session: Session }): JSX.Element {
  const { session_id: id, nodes } = session;
  const nova = useNova();
  const { outputs, error } = useOutputs(session);
  const [{ node: chosen }, change] = useAddress(["node"]);
  const [asked, setAsked] = useState<Asked>();
  const [typed, setTyped] = useState<Readonly<Record<string, Typed | undefined>>>({});
  const run = useAct(id, (node: string | undefined) =>
    node === undefined ? nova.sessions.run(id) : nova.sessions.runNode(id, node),
  );
  const select = (node: string | undefined) => change({ node });
  const close = () => setAsked(undefined);
  const isRunning = run.isPending || session.running.length > 0;
  useDraftKeys({
    session,
    chosen,
    select,
    run: () => !isRunning && run.mutate(undefined),
    add: () => setAsked("node"),
  });
  const node = nodes.find(({ node_id }) => node_id === chosen);
  return (
    <>
      <SessionHead session={session} isRunning={isRunning} onAsk={setAsked} onRun={() => run.mutate(undefined)} />
      <RunNote session={session} answer={run.data} isPending={run.isPending} onDismiss={run.reset} />
      {(run.error || error) && (
        <div className="session-trouble">
          <Trouble error={run.error ?? error} />
        </div>
      )}
      <div className="definition" data-chosen={node !== undefined || undefined}>
        <div className="definition-graph">
          {nodes.length === 0 ? (
            <Empty icon="flow" title={words.noNodes} hint={words.noNodesHint}>
              <Button icon="plus" onClick={() => setAsked("node")}>
                {words.addNode.title}
              </Button>
            </Empty>
          ) : (
            <SessionGraph {...{ session, outputs, selected: chosen, onSelect: select }} />
          )}
        </div>
        <aside className="definition-side" aria-label={words.side}>
          {node ? (
            <NodePanel
              key={node.node_id}
              {...{ session, node, isRunning }}
              output={outputs?.get(node.node_id)}
              typed={typed[node.node_id]}
              onTyped={(one) => setTyped((before) => ({ ...before, [node.node_id]: one }))}
              onRun={() => run.mutate(node.node_id)}
              onClose={() => select(undefined)}
            />
          ) : (
            <Overview session={session} />
          )}
        </aside>
      </div>
      {asked === "node" && (
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
      {asked === "edge" && <AddEdge session={session} from={node?.node_id} onClose={close} />}
      {asked === "publish" && <Publish session={session} onClose={close} />}
    </>
  );
}

interface DraftKeys {
  session: Session;
  chosen: string | undefined;
  select(node: string | undefined): void;
  run(): void;
  add(): void;
}

function useDraftKeys({ session: { nodes }, chosen, select, run, add }: DraftKeys): void {
  const step = (by: number) => {
    const at = nodes.findIndex(({ node_id }) => node_id === chosen);
    const next = nodes[at < 0 ? (by > 0 ? 0 : nodes.length - 1) : Math.max(0, Math.min(nodes.length - 1, at + by))];
    if (next) select(next.node_id);
  };
  useKeys({
    j: { says: words.keys.next, run: () => step(1) },
    k: { says: words.keys.previous, run: () => step(-1) },
    r: { says: words.keys.run, run },
    a: { says: words.keys.add, run: add },
    Escape: { says: texts.keys.close, run: () => select(undefined) },
  });
}
