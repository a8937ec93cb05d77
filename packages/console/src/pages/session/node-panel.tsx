import { useMutation } from "@tanstack/react-query";
import { useRef, useState } from "react";
import { Link } from "wouter";
import { useNova } from "../../api/nova.ts";
import { findMember, formatJson, parseObject, Raw, readString } from "../../json/raw.ts";
import { Button, IconButton } from "../../parts/button.tsx";
import { ConfirmButton } from "../../parts/dialog.tsx";
import { TextArea } from "../../parts/field.tsx";
import type { IconName } from "../../parts/icon.tsx";
import { JsonView } from "../../parts/json-view.tsx";
import { SaveForm } from "../../parts/page.tsx";
import { ErrorNote, isConflict } from "../../parts/states.tsx";
import { Badge } from "../../parts/status.tsx";
import { Time } from "../../parts/time.tsx";
import { UntrustedText } from "../../parts/untrusted-text.tsx";
import { texts } from "../../texts.ts";
import {
  classifyNode,
  createTool,
  deriveNodeId,
  findOnlyText,
  findTextField,
  formatEdgeCondition,
  isToolOfAgent,
  type NodeFreshness,
  readDefinition,
  type Scope,
  type SessionNode,
} from "./draft.ts";
import { addTool, type DraftEdge, listTools, removeEdge, removeNode } from "./draft-doc.ts";
import { lazyForm } from "./lazy-form.tsx";
import { NodeWriter, type WriterHandle } from "./node-writer.tsx";
import { usePublicationFindings } from "./publish-changes.tsx";
import type { DraftEditing } from "./use-draft.ts";
import { type OutputText, useSessionReload } from "./use-session.ts";

const words = texts.sessions;
const nodeWords = words.node;

export const freshnessLooks: Record<NodeFreshness, { tone: string; icon: IconName }> = {
  fresh: { tone: "ok", icon: "check" },
  stale: { tone: "wait", icon: "clock" },
  skipped: { tone: "idle", icon: "minus" },
};

const NodeForm = lazyForm(async () => (await import("./schema-forms.tsx")).KindForm);

interface NodePanelProps {
  session: Scope;
  node: SessionNode;
  output: OutputText | undefined;
  isRunning: boolean;
  draft: DraftEditing;
  onRun(): void;
  onSelect(node: string | undefined): void;
  /** Opens the nodes in the body of a map; absent if the node has no body. */
  onEnter?: (() => void) | undefined;
}

export function SessionNodePanel({ session, node, output, draft, ...acts }: NodePanelProps) {
  const { session_id: id } = session;
  const handle = useRef<WriterHandle | null>(null);
  const { data: checked } = usePublicationFindings(session);
  const remove = async () => {
    await draft.apply((doc) => removeNode(doc, node.node_id));
    acts.onSelect(undefined);
  };
  const run = async () => {
    if (!acts.isRunning && ((await handle.current?.save()) ?? true)) acts.onRun();
  };
  const state = classifyNode(node);
  const field = findTextField(readDefinition(node));
  const isTool = isToolOfAgent(session, node.node_id);
  return (
    <>
      <header className="pane-head row">
        <UntrustedText as="h2" text={node.node_id} />
        {isTool ? (
          <Badge tone="idle" icon="code" text={`${texts.workflows.version(node.version)} ${words.tools.one}`} />
        ) : (
          <Badge {...freshnessLooks[state]} text={`${texts.workflows.version(node.version)} ${words.states[state]}`} />
        )}
        <span className="actions">
          <IconButton icon="cross" label={texts.common.close} onClick={() => acts.onSelect(undefined)} />
        </span>
      </header>
      <div className="pane-body stack loose">
        {field && (
          <NodeWriter
            key={field}
            session={session}
            node={node}
            field={field}
            onRun={() => void run()}
            handle={handle}
          />
        )}
        <div className="line">
          <Button icon="play" disabled={acts.isRunning} onClick={() => void run()}>
            {texts.fix.run}
          </Button>
          {acts.onEnter && (
            <Button icon="right" onClick={acts.onEnter}>
              {texts.build.inside.open}
            </Button>
          )}
        </div>
        {!isTool && <NodeOutput session={id} node={node} output={output} />}
        {readString(findMember(readDefinition(node), "executor")) === "agent" && (
          <Tools session={session} agent={node} draft={draft} onSelect={acts.onSelect} />
        )}
        <section>
          <h3>{nodeWords.fields}</h3>
          <NodeForm node={node} draft={draft} isTool={isTool} findings={checked?.findings ?? []} />
        </section>
        {!isTool && <Edges session={session} node={node.node_id} draft={draft} />}
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

interface ToolsProps extends Pick<NodePanelProps, "session" | "draft" | "onSelect"> {
  agent: SessionNode;
}

/** Lists the nodes that an agent calls as tools. The graph does not show these nodes, because they have no edges. */
function Tools({ session, agent, draft, onSelect }: ToolsProps) {
  const { node_id: id } = agent;
  const tools = session.beside.filter(({ node_id }) => listTools(readDefinition(agent)).includes(node_id));
  const add = useMutation({
    async mutationFn() {
      const tool = createTool(deriveNodeId(`${id}_tool`, session.ids));
      await draft.apply((doc) => addTool(doc, id, tool));
      onSelect(tool.id);
    },
  });
  return (
    <section className="stack start">
      <h3>{words.tools.title}</h3>
      <div className="line">
        {tools.map(({ node_id }) => (
          <Button key={node_id} onClick={() => onSelect(node_id)}>
            <UntrustedText text={node_id} />
          </Button>
        ))}
        <Button icon="plus" disabled={add.isPending} onClick={() => add.mutate()}>
          {words.tools.add}
        </Button>
      </div>
      <ErrorNote error={add.error} />
    </section>
  );
}

function Edges({ session: { edges }, node, draft }: Pick<NodePanelProps, "session" | "draft"> & { node: string }) {
  const remove = useMutation({ mutationFn: (edge: DraftEdge) => draft.apply((doc) => removeEdge(doc, edge)) });
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

/** Shows the output of a node and the origin of this output. The user can edit the output. */
function NodeOutput({ session, node, output }: { session: string; node: SessionNode; output: OutputText | undefined }) {
  const [isEdited, setEdited] = useState(false);
  const { text, error = null } = output ?? {};
  // A user must not overwrite an output that has not loaded yet.
  const isAwaited = output === undefined && node.source !== null;
  return (
    <section className="stack">
      <header className="line baseline">
        <h3>{texts.run.output}</h3>
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

/** Lets the user edit an output: as text if its only member is a text, and as JSON otherwise. */
function OutputForm({ session, node, text, onClose }: OutputFormProps) {
  const nova = useNova();
  const [only] = useState(() => findOnlyText(text));
  const [input, setInput] = useState(only?.text ?? formatJson(text));
  // After the server has refused the output because the node had changed, the next try is for the changed node.
  const [version, setVersion] = useState<number | undefined>(node.version);
  const object = only ? new Raw(`{${JSON.stringify(only.key)}:${JSON.stringify(input)}}`) : parseObject(input);
  const reload = useSessionReload(session);
  const save = async () => {
    if (!object) return;
    try {
      await nova.sessions.writeOutput(session, node.node_id, object, { version: version ?? node.version });
    } catch (error) {
      if (isConflict(error)) setVersion(undefined);
      throw error;
    } finally {
      await reload();
    }
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
