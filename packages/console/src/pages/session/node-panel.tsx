import type { Session } from "@nova/client";
import { useRef, useState } from "react";
import { Link } from "wouter";
import { useNova } from "../../api/nova.ts";
import { formatJson, parseObject, Raw } from "../../json/raw.ts";
import { Button, IconButton } from "../../parts/button.tsx";
import { ConfirmButton } from "../../parts/dialog.tsx";
import { TextArea } from "../../parts/field.tsx";
import type { IconName } from "../../parts/icon.tsx";
import { JsonView } from "../../parts/json-view.tsx";
import { SaveForm } from "../../parts/page.tsx";
import { ErrorNote, lazyComponent } from "../../parts/states.tsx";
import { Badge } from "../../parts/status.tsx";
import { Time } from "../../parts/time.tsx";
import { UntrustedText } from "../../parts/untrusted-text.tsx";
import { texts } from "../../texts.ts";
import {
  classifyNode,
  findOnlyText,
  findTextField,
  formatEdgeCondition,
  type NodeFreshness,
  readDefinition,
  type SessionNode,
} from "./draft.ts";
import { NodeWriter, type WriterHandle } from "./node-writer.tsx";
import { type OutputText, useNodeChange, useSessionAction, useSessionReload } from "./use-session.ts";

const words = texts.sessions;
const nodeWords = words.node;

export const freshnessLooks: Record<NodeFreshness, { tone: string; icon: IconName }> = {
  fresh: { tone: "ok", icon: "check" },
  stale: { tone: "wait", icon: "clock" },
  skipped: { tone: "idle", icon: "minus" },
};

/** The schema from which the form of each kind is generated. It is loaded with the first node that a user opens. */
const NodeForm = lazyComponent(async () => {
  const [{ KindForm }, { default: workflowSchema }] = await Promise.all([
    import("./kind-form.tsx"),
    import("@nova/workflow/schema"),
  ]);
  const schema = JSON.stringify(workflowSchema);
  return (props: Omit<Parameters<typeof KindForm>[0], "schema">) => <KindForm {...props} schema={schema} />;
});

interface NodePanelProps {
  session: Session;
  node: SessionNode;
  output: OutputText | undefined;
  isRunning: boolean;
  onRun(): void;
  onRemove(): Promise<void>;
  onClose(): void;
}

export function SessionNodePanel({ session, node, output, onRemove, ...acts }: NodePanelProps) {
  const { session_id: id } = session;
  const handle = useRef<WriterHandle | null>(null);
  const reload = useSessionReload(id);
  const remove = async () => {
    await onRemove();
    acts.onClose();
  };
  const run = async () => {
    if (!acts.isRunning && ((await handle.current?.save()) ?? true)) acts.onRun();
  };
  const state = classifyNode(node);
  const field = findTextField(readDefinition(node));
  return (
    <>
      <header className="pane-head row">
        <UntrustedText as="h2" text={node.node_id} />
        <Badge {...freshnessLooks[state]} text={`${words.version(node.version)} ${words.states[state]}`} />
        <span className="actions">
          <IconButton icon="cross" label={texts.common.close} onClick={acts.onClose} />
        </span>
      </header>
      <div className="pane-body stack loose">
        {field && <NodeWriter session={session} node={node} field={field} onRun={() => void run()} handle={handle} />}
        <Button icon="play" disabled={acts.isRunning} onClick={() => void run()}>
          {words.run.one}
        </Button>
        <NodeOutput session={id} node={node} output={output} />
        <section>
          <h3>{nodeWords.fields}</h3>
          <NodeForm session={id} node={node} onSaved={() => void reload()} />
        </section>
        <Edges session={session} node={node.node_id} />
        <ConfirmButton
          icon="bin"
          tone="danger"
          label={nodeWords.remove}
          title={nodeWords.confirmRemove(node.node_id)}
          hint={nodeWords.confirmRemoveHint}
          onConfirm={remove}
        />
      </div>
    </>
  );
}

function Edges({ session: { session_id: id, edges }, node }: { session: Session; node: string }) {
  const nova = useNova();
  const remove = useSessionAction(id, (edge: Session["edges"][number]) => nova.sessions.deleteEdge(id, edge));
  const nodeEdges = edges.filter(({ from, to }) => from === node || to === node);
  return (
    <section>
      <h3>{nodeWords.edges}</h3>
      {nodeEdges.length === 0 && <p className="quiet">{nodeWords.noEdges}</p>}
      <ul>
        {nodeEdges.map((edge) => {
          const { from, to } = edge;
          const label = formatEdgeCondition(edge);
          return (
            <li className="row between break" key={`${from} ${to} ${label}`}>
              <UntrustedText text={from === node ? nodeWords.to(to, label) : nodeWords.from(from, label)} />
              <IconButton
                icon="bin"
                label={nodeWords.removeEdge(from, to)}
                disabled={remove.isPending}
                onClick={() => remove.mutate(edge)}
              />
            </li>
          );
        })}
      </ul>
      <ErrorNote error={remove.error} />
    </section>
  );
}

/** The output of a node and its origin. The user can edit it. */
function NodeOutput({ session, node, output }: { session: string; node: SessionNode; output: OutputText | undefined }) {
  const [isEdited, setEdited] = useState(false);
  const { text, error = null } = output ?? {};
  // A user must not overwrite an output that has not loaded yet.
  const isAwaited = output === undefined && node.source !== null;
  return (
    <section className="stack">
      <header className="line baseline">
        <h3>{nodeWords.output}</h3>
        <Origin node={node} />
      </header>
      {error !== null ? (
        <ErrorNote error={error} />
      ) : text === undefined ? (
        <p className="quiet">{node.skipped ? nodeWords.skippedHint : texts.sessions.noOutput}</p>
      ) : (
        <div className="session-value well">
          <JsonView text={text} open={2} />
        </div>
      )}
      {isEdited ? (
        <OutputForm session={session} node={node} text={text ?? "{}"} onClose={() => setEdited(false)} />
      ) : (
        <Button icon="change" disabled={isAwaited} onClick={() => setEdited(true)}>
          {nodeWords.edit}
        </Button>
      )}
    </section>
  );
}

function Origin({ node: { source, decision } }: { node: SessionNode }) {
  if (source === null) return null;
  return (
    <span className="quiet">
      {"edited_by" in source ? (
        <>
          <UntrustedText text={nodeWords.byHand(source.edited_by)} /> <Time at={source.at} />
        </>
      ) : (
        <Link href={`/runs/${source.execution_id}`} className="link in-text">
          {nodeWords.fromRun}
        </Link>
      )}
      {decision !== null && <UntrustedText text={`, ${nodeWords.decision(decision)}`} />}
    </span>
  );
}

interface OutputFormProps {
  session: string;
  node: SessionNode;
  /** The output at the start of the edit. */
  text: string;
  onClose(): void;
}

/** Edits an output. A single text is edited as text, everything else as JSON. */
function OutputForm({ session, node, text, onClose }: OutputFormProps) {
  const nova = useNova();
  const [only] = useState(() => findOnlyText(text));
  const [input, setInput] = useState(only?.text ?? formatJson(text));
  const [version, setVersion] = useState(node.version);
  const object = only ? new Raw(`{${JSON.stringify(only.key)}:${JSON.stringify(input)}}`) : parseObject(input);
  const change = useNodeChange(session, node.node_id, setVersion);
  const save = async () => {
    if (!object) return;
    await change(nova.sessions.writeOutput(session, node.node_id, object, { version }));
    onClose();
  };
  return (
    <SaveForm
      className="stack loose"
      canSave={object !== undefined}
      save={save}
      action={nodeWords.saveOutput}
      discard={{ label: texts.common.cancel, run: onClose }}
    >
      <TextArea
        label={only ? nodeWords.outputText(only.key) : nodeWords.outputJson}
        error={object ? undefined : nodeWords.misfit}
        value={input}
        autoFocus
        rows={Math.min(20, input.split("\n").length + 2)}
        onChange={setInput}
      />
    </SaveForm>
  );
}
