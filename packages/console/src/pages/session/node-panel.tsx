import type { Session } from "@nova/client";
import { type FormEvent, type JSX, useState } from "react";
import { Link } from "wouter";
import { useNova } from "../../api/nova.ts";
import { formatJson, parseObject, Raw } from "../../json/raw.ts";
import { Button, IconButton } from "../../parts/button.tsx";
import { ConfirmDialog } from "../../parts/dialog.tsx";
import { TextArea, TextField } from "../../parts/field.tsx";
import { Icon } from "../../parts/icon.tsx";
import { JsonView } from "../../parts/json-view.tsx";
import { ErrorNote } from "../../parts/states.tsx";
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
  readDefinition,
  readNodeFields,
  type SessionNode,
} from "./draft.ts";
import { freshnessLooks } from "./session-graph.tsx";
import { type OutputText, useNodeChange, useSessionAction } from "./use-session.ts";

const words = texts.sessions;

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

/** One node: its state, output, definition and edges. */
export function SessionNodePanel({ session, node, output, edit, onEdit, ...acts }: NodePanelProps): JSX.Element {
  const { session_id: id } = session;
  const state = classifyNode(node);
  const { tone, icon } = freshnessLooks[state];
  return (
    <>
      <header className="definition-head">
        <h2>
          <UntrustedText text={node.node_id} />
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
        <Button icon="play" disabled={acts.isRunning || edit !== undefined} onClick={acts.onRun}>
          {words.run.one}
        </Button>
        {edit && <p className="quiet">{words.run.saveFirst}</p>}
        <NodeOutput session={id} node={node} output={output} />
        <section>
          <h3>{words.node.fields}</h3>
          <NodeFields session={id} node={node} edit={edit} onEdit={onEdit} />
        </section>
        <Edges session={session} node={node.node_id} />
        <Remove session={id} node={node} onGone={acts.onClose} />
      </div>
    </>
  );
}

function Edges({ session: { session_id: id, edges }, node }: { session: Session; node: string }): JSX.Element {
  const nova = useNova();
  const remove = useSessionAction(id, (edge: Session["edges"][number]) => nova.sessions.deleteEdge(id, edge));
  const nodeEdges = edges.filter(({ from, to }) => from === node || to === node);
  return (
    <section>
      <h3>{words.node.edges}</h3>
      {nodeEdges.length === 0 && <p className="quiet">{words.node.noEdges}</p>}
      <ul className="session-edges">
        {nodeEdges.map((edge) => {
          const { from, to } = edge;
          const label = formatEdgeCondition(edge);
          return (
            <li key={`${from} ${to} ${label}`}>
              <UntrustedText text={from === node ? words.node.to(to, label) : words.node.from(from, label)} />
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
      <ErrorNote error={remove.error} />
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
  const remove = useSessionAction(session, () => nova.sessions.deleteNode(session, node, { version }));
  return (
    <>
      <Button icon="bin" tone="danger" onClick={() => setAsked(true)}>
        {words.node.remove}
      </Button>
      {isAsked && (
        <ConfirmDialog
          title={words.node.confirmRemove(node)}
          action={words.node.remove}
          onConfirm={async () => {
            await remove.mutateAsync(undefined);
            onGone();
          }}
          onClose={() => setAsked(false)}
        >
          <p className="quiet">{words.node.confirmRemoveHint}</p>
        </ConfirmDialog>
      )}
    </>
  );
}

const nodeWords = texts.sessions.node;

interface NodeFieldsProps {
  session: string;
  node: SessionNode;
  /** Unsaved input. */
  edit: NodeEdit | undefined;
  onEdit(edit: NodeEdit | undefined): void;
}

/**
 * A form for the definition of a node. If another user changes a field meanwhile, the form shows the other text and
 * keeps the unsaved input.
 */
export function NodeFields({ session, node, edit, onEdit }: NodeFieldsProps): JSX.Element {
  const nova = useNova();
  const definition = readDefinition(node);
  const now = readNodeFields(definition);
  const changes = edit && diffFields(edit.fields, now);
  const save = useNodeChange({
    session,
    node: node.node_id,
    change: (current: NodeEdit) => {
      const read = { version: chooseBaseVersion(current, now, node.version) };
      return nova.sessions.changeNode(session, node.node_id, changes ?? {}, read);
    },
    onDone: () => onEdit(undefined),
    onConflict: (version) => edit && onEdit({ ...edit, version }),
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (edit) save.mutate(edit);
  };
  const meanwhile = edit ? findConflicts(edit, now) : [];
  return (
    <form className="form" onSubmit={submit}>
      {listShownFields(definition).map((name) => (
        <FieldInput
          key={name}
          name={name}
          value={edit?.fields[name] ?? now[name]}
          other={meanwhile.includes(name) ? now[name] : undefined}
          onChange={(text) => onEdit(applyEdit(edit, now, node.version, { [name]: text }))}
        />
      ))}
      <ErrorNote error={save.error} />
      {meanwhile.length > 0 && <p className="quiet">{nodeWords.again}</p>}
      <div className="form-end">
        <Button
          submit
          tone="main"
          disabled={changes === undefined || Object.keys(changes).length === 0 || save.isPending}
        >
          {texts.common.save}
        </Button>
        {edit && (
          <Button
            tone="ghost"
            onClick={() => {
              onEdit(undefined);
              save.reset();
            }}
          >
            {nodeWords.revert}
          </Button>
        )}
        <span role="status" className="saved">
          {save.isSuccess && !edit && texts.common.saved}
        </span>
      </div>
    </form>
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

function FieldInput({ name, value, other, onChange }: FieldInputProps): JSX.Element {
  const label = nodeWords[name];
  const misfit = name === "rest" && !parseObject(value) ? nodeWords.misfit : undefined;
  const hint =
    other === undefined ? undefined : (
      <span className="session-other">
        <UntrustedText text={nodeWords.meanwhile(other)} />
      </span>
    );
  const shared = { label, value, onChange, hint, error: misfit };
  if (lines.has(name)) return <TextField {...shared} maxLength={200} />;
  return <TextArea {...shared} rows={Math.min(maxRows, Math.max(3, value.split("\n").length + 1))} />;
}

interface NodeOutputProps {
  session: string;
  node: SessionNode;
  output: OutputText | undefined;
}

/** The output of a node and its origin. The user can edit it. */
export function NodeOutput({ session, node, output }: NodeOutputProps): JSX.Element {
  const [isEdited, setEdited] = useState(false);
  const { text, error = null } = output ?? {};
  // A user must not overwrite an output that has not loaded yet.
  const isAwaited = output === undefined && node.source !== null;
  return (
    <section className="session-output">
      <header>
        <h3>{nodeWords.output}</h3>
        <Origin node={node} />
      </header>
      {error !== null ? (
        <ErrorNote error={error} />
      ) : text === undefined ? (
        <p className="quiet">{node.skipped ? nodeWords.skippedHint : texts.sessions.noOutput}</p>
      ) : (
        <div className="session-value">
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

function Origin({ node: { source, decision } }: { node: SessionNode }): JSX.Element | null {
  if (source === null) return null;
  return (
    <span className="quiet">
      {"edited_by" in source ? (
        <>
          <UntrustedText text={nodeWords.byHand(source.edited_by)} /> <Time at={source.at} />
        </>
      ) : (
        <Link href={`/runs/${source.execution_id}`} className="session-link">
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
function OutputForm({ session, node, text, onClose }: OutputFormProps): JSX.Element {
  const nova = useNova();
  const [only] = useState(() => findOnlyText(text));
  const [input, setInput] = useState(only?.text ?? formatJson(text));
  const [version, setVersion] = useState(node.version);
  const object = only ? new Raw(`{${JSON.stringify(only.key)}:${JSON.stringify(input)}}`) : parseObject(input);
  const save = useNodeChange({
    session,
    node: node.node_id,
    onDone: onClose,
    onConflict: setVersion,
    change: (output: Raw) => nova.sessions.writeOutput(session, node.node_id, output, { version }),
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (object) save.mutate(object);
  };
  return (
    <form className="form" onSubmit={submit}>
      <TextArea
        label={only ? nodeWords.outputText(only.key) : nodeWords.outputJson}
        error={object ? undefined : nodeWords.misfit}
        value={input}
        autoFocus
        rows={Math.min(20, input.split("\n").length + 2)}
        onChange={setInput}
      />
      <ErrorNote error={save.error} />
      <div className="form-end">
        <Button submit tone="main" disabled={!object || save.isPending}>
          {nodeWords.saveOutput}
        </Button>
        <Button tone="ghost" onClick={onClose}>
          {texts.common.cancel}
        </Button>
      </div>
    </form>
  );
}
