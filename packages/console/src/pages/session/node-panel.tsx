import type { Session } from "@nova/client";
import { useState } from "react";
import { Link } from "wouter";
import { useNova } from "../../api/nova.ts";
import { formatJson, parseObject, Raw } from "../../json/raw.ts";
import { Button, IconButton } from "../../parts/button.tsx";
import { ConfirmButton } from "../../parts/dialog.tsx";
import { TextArea, TextField } from "../../parts/field.tsx";
import type { IconName } from "../../parts/icon.tsx";
import { JsonView } from "../../parts/json-view.tsx";
import { SaveForm } from "../../parts/page.tsx";
import { ErrorNote } from "../../parts/states.tsx";
import { Badge } from "../../parts/status.tsx";
import { Time } from "../../parts/time.tsx";
import { UntrustedText } from "../../parts/untrusted-text.tsx";
import { texts } from "../../texts.ts";
import {
  applyEdit,
  chooseBaseVersion,
  classifyNode,
  diffFields,
  type FieldName,
  findConflicts,
  findOnlyText,
  formatEdgeCondition,
  listShownFields,
  type NodeEdit,
  type NodeFreshness,
  readDefinition,
  readNodeFields,
  type SessionNode,
} from "./draft.ts";
import { type OutputText, useNodeChange, useSessionAction, useSessionReload } from "./use-session.ts";

const words = texts.sessions;
const nodeWords = words.node;

export const freshnessLooks: Record<NodeFreshness, { tone: string; icon: IconName }> = {
  fresh: { tone: "ok", icon: "check" },
  stale: { tone: "wait", icon: "clock" },
  skipped: { tone: "idle", icon: "minus" },
};

interface NodePanelProps {
  session: Session;
  node: SessionNode;
  output: OutputText | undefined;
  edit: NodeEdit | undefined;
  onEdit(edit: NodeEdit | undefined): void;
  isRunning: boolean;
  onRun(): void;
  onClose(): void;
}

export function SessionNodePanel({ session, node, output, edit, onEdit, ...acts }: NodePanelProps) {
  const { session_id: id } = session;
  const nova = useNova();
  const reload = useSessionReload(id);
  const remove = async () => {
    await nova.sessions.deleteNode(id, node.node_id, { version: node.version }).finally(reload);
    acts.onClose();
  };
  const state = classifyNode(node);
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
        <Button icon="play" disabled={acts.isRunning || edit !== undefined} onClick={acts.onRun}>
          {words.run.one}
        </Button>
        {edit && <p className="quiet">{words.run.saveFirst}</p>}
        <NodeOutput session={id} node={node} output={output} />
        <section>
          <h3>{nodeWords.fields}</h3>
          <NodeFields session={id} node={node} edit={edit} onEdit={onEdit} />
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

interface NodeFieldsProps {
  session: string;
  node: SessionNode;
  edit: NodeEdit | undefined;
  onEdit(edit: NodeEdit | undefined): void;
}

/**
 * A form for the definition of a node. If another user changes a field meanwhile, the form shows the other text and
 * keeps the unsaved input.
 */
function NodeFields({ session, node, edit, onEdit }: NodeFieldsProps) {
  const nova = useNova();
  const definition = readDefinition(node);
  const now = readNodeFields(definition);
  const changes = edit && diffFields(edit.fields, now);
  const change = useNodeChange(session, node.node_id, (version) => edit && onEdit({ ...edit, version }));
  const save = async () => {
    if (!edit || !changes) return;
    const version = chooseBaseVersion(edit, now, node.version);
    await change(nova.sessions.changeNode(session, node.node_id, changes, { version }));
    onEdit(undefined);
  };
  const meanwhile = edit ? findConflicts(edit, now) : [];
  return (
    <SaveForm
      className="stack loose"
      canSave={Object.keys(changes ?? {}).length > 0}
      save={save}
      discard={edit && { label: nodeWords.revert, run: () => onEdit(undefined) }}
    >
      {listShownFields(definition).map((name) => (
        <FieldInput
          key={name}
          name={name}
          value={edit?.fields[name] ?? now[name]}
          other={meanwhile.includes(name) ? now[name] : undefined}
          onChange={(text) => onEdit(applyEdit(edit, now, node.version, { [name]: text }))}
        />
      ))}
      {meanwhile.length > 0 && <p className="quiet">{nodeWords.again}</p>}
    </SaveForm>
  );
}

interface FieldInputProps {
  name: FieldName;
  value: string;
  /** The text that another user saved meanwhile. */
  other: string | undefined;
  onChange(text: string): void;
}

const lines = new Set<FieldName>(["name", "model"]);
const maxRows = 24;

function FieldInput({ name, value, other, onChange }: FieldInputProps) {
  const label = nodeWords[name];
  const misfit = name === "rest" && !parseObject(value) ? nodeWords.misfit : undefined;
  const hint =
    other === undefined ? undefined : (
      <UntrustedText as="span" className="notice tone-wait" text={nodeWords.meanwhile(other)} />
    );
  const shared = { label, value, onChange, hint, error: misfit };
  if (lines.has(name)) return <TextField {...shared} maxLength={200} />;
  return <TextArea {...shared} rows={Math.min(maxRows, Math.max(3, value.split("\n").length + 1))} />;
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
