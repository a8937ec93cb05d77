import type { Session } from "@nova/client";
import { type JSX, useState } from "react";
import { useNova } from "../../api/nova.ts";
import { Button, IconButton } from "../../parts/button.tsx";
import { Confirm } from "../../parts/confirm.tsx";
import { Foreign } from "../../parts/foreign.tsx";
import { Icon } from "../../parts/icon.tsx";
import { Trouble } from "../../parts/trouble.tsx";
import { texts } from "../../texts.ts";
import { conditionOf, type SessionNode, stateOf, type Typed } from "./draft.ts";
import { NodeFields } from "./node-fields.tsx";
import { NodeOutput } from "./node-output.tsx";
import { looks } from "./session-graph.tsx";
import { type OutputText, useAct } from "./use-session.ts";

const words = texts.sessions;

interface NodePanelProps {
  session: Session;
  node: SessionNode;
  output: OutputText | undefined;
  typed: Typed | undefined;
  onTyped(typed: Typed | undefined): void;
  isRunning: boolean;
  onRun(): void;
  onClose(): void;
}

/** One node of the draft: how it stands, what it came to, what it does, and where it leads. */
export function NodePanel({ session, node, output, typed, onTyped, ...acts }: NodePanelProps): JSX.Element {
  const { session_id: id } = session;
  const state = stateOf(node);
  const { tone, icon } = looks[state];
  return (
    <>
      <header className="definition-head">
        <h2>
          <Foreign text={node.node_id} />
        </h2>
        <span className={`badge tone-${tone}`}>
          <Icon name={icon} size={12} />
          {`${words.version(node.version)} ${words.states[state]}`}
        </span>
        <span className="page-head-end">
          <IconButton icon="cross" label={texts.common.close} onClick={acts.onClose} />
        </span>
      </header>
      <div className="definition-body">
        <Button icon="play" disabled={acts.isRunning || typed !== undefined} onClick={acts.onRun}>
          {words.run.one}
        </Button>
        {typed && <p className="quiet">{words.run.saveFirst}</p>}
        <NodeOutput session={id} node={node} output={output} />
        <section>
          <h3>{words.node.fields}</h3>
          <NodeFields session={id} {...{ node, typed, onTyped }} />
        </section>
        <Edges session={session} node={node.node_id} />
        <Remove session={id} node={node} onGone={acts.onClose} />
      </div>
    </>
  );
}

function Edges({ session: { session_id: id, edges }, node }: { session: Session; node: string }): JSX.Element {
  const nova = useNova();
  const remove = useAct(id, (edge: Session["edges"][number]) => nova.sessions.deleteEdge(id, edge));
  const own = edges.filter(({ from, to }) => from === node || to === node);
  return (
    <section>
      <h3>{words.node.edges}</h3>
      {own.length === 0 && <p className="quiet">{words.node.noEdges}</p>}
      <ul className="session-edges">
        {own.map((edge) => {
          const { from, to } = edge;
          const label = conditionOf(edge);
          return (
            <li key={`${from} ${to} ${label}`}>
              <Foreign text={from === node ? words.node.to(to, label) : words.node.from(from, label)} />
              <IconButton
                icon="bin"
                label={words.node.removeEdge(from, to)}
                disabled={remove.isPending}
                onClick={() => remove.mutate(edge)}
              />
            </li>
          );
        })}
      </ul>
      <Trouble error={remove.error} />
    </section>
  );
}

interface RemoveProps {
  session: string;
  node: SessionNode;
  onGone(): void;
}

function Remove({ session, node: { node_id: node, version }, onGone }: RemoveProps): JSX.Element {
  const nova = useNova();
  const [isAsked, setAsked] = useState(false);
  const remove = useAct(session, () => nova.sessions.deleteNode(session, node, { version }));
  return (
    <>
      <Button icon="bin" tone="danger" onClick={() => setAsked(true)}>
        {words.node.remove}
      </Button>
      {isAsked && (
        <Confirm
          title={words.node.confirmRemove(node)}
          does={words.node.remove}
          act={async () => {
            await remove.mutateAsync(undefined);
            onGone();
          }}
          onClose={() => setAsked(false)}
        >
          <p className="quiet">{words.node.confirmRemoveHint}</p>
        </Confirm>
      )}
    </>
  );
}
