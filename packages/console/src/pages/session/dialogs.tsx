import type { Session } from "@nova/client";
import { useQueryClient } from "@tanstack/react-query";
import { type JSX, useRef, useState } from "react";
import { Link } from "wouter";
import { useNova } from "../../api/nova.ts";
import { Button } from "../../parts/button.tsx";
import { ConfirmDialog, Dialog, FormDialog } from "../../parts/dialog.tsx";
import { SelectField, TextField } from "../../parts/field.tsx";
import { UntrustedText } from "../../parts/untrusted-text.tsx";
import { texts } from "../../texts.ts";
import { buildDraftGraph, createSessionNode, parseCondition } from "./draft.ts";
import { useSessionAction } from "./use-session.ts";

const words = texts.sessions;

type Kind = Parameters<typeof createSessionNode>[1];
const kinds = Object.entries(words.addNode.kinds) as [Kind, string][];

interface AddNodeProps {
  session: Session;
  /** The selected node, which is the default predecessor. */
  after: string | undefined;
  onAdded(node: string): void;
  onClose(): void;
}

export function AddNode({ session, after, onAdded, onClose }: AddNodeProps): JSX.Element {
  const nova = useNova();
  const { session_id: id, nodes } = session;
  const [node, setNode] = useState("");
  const [kind, setKind] = useState<Kind>("code");
  const [from, setFrom] = useState(after ?? "");
  const added = useRef("");
  const add = useSessionAction(id, async () => {
    // After a refused edge, the node already exists.
    if (added.current !== node) await nova.sessions.addNode(id, createSessionNode(node, kind));
    added.current = node;
    if (from !== "") await nova.sessions.addEdge(id, { from, to: node });
    onAdded(node);
  });
  const labels = words.addNode;
  return (
    <FormDialog
      title={labels.title}
      onClose={onClose}
      isPending={add.isPending}
      error={add.error}
      onSubmit={() => add.mutate(undefined)}
    >
      <TextField
        label={labels.id}
        hint={labels.idHint}
        value={node}
        required
        autoFocus
        pattern="[A-Za-z][A-Za-z0-9_\-]*"
        maxLength={64}
        onChange={setNode}
      />
      <SelectField label={labels.kind} value={kind} values={kinds} onChange={(one) => setKind(one as Kind)} />
      <SelectField
        label={labels.after}
        value={from}
        values={[["", labels.first], ...nodes.map(({ node_id: one }) => [one, one] as const)]}
        onChange={setFrom}
      />
    </FormDialog>
  );
}

interface AddEdgeProps {
  session: Session;
  from: string | undefined;
  onClose(): void;
}

export function AddEdge({ session, from: chosen, onClose }: AddEdgeProps): JSX.Element {
  const nova = useNova();
  const { session_id: id } = session;
  const ids = buildDraftGraph(session).nodes.map((node) => [node.id, node.id] as const);
  const [from, setFrom] = useState(chosen ?? ids[0]?.[0] ?? "");
  const [to, setTo] = useState(ids.find(([one]) => one !== from)?.[0] ?? "");
  const [text, setText] = useState("");
  const condition = parseCondition(text);
  const add = useSessionAction(id, async () => {
    await nova.sessions.addEdge(id, { from, to, ...(condition !== undefined && { condition }) });
    onClose();
  });
  const labels = words.addEdge;
  return (
    <FormDialog
      title={labels.title}
      onClose={onClose}
      isPending={add.isPending}
      error={add.error}
      onSubmit={() => add.mutate(undefined)}
    >
      <SelectField label={labels.from} value={from} values={ids} onChange={setFrom} />
      <SelectField label={labels.to} value={to} values={ids} onChange={setTo} />
      <TextField label={labels.condition} hint={labels.conditionHint} value={text} maxLength={200} onChange={setText} />
    </FormDialog>
  );
}

const publishWords = texts.sessions.publish;

/** Publishes the draft as the next version of a workflow, and shows the version. */
export function Publish({ session, onClose }: { session: Session; onClose(): void }): JSX.Element {
  const nova = useNova();
  const [workflow, setWorkflow] = useState(session.workflow ?? "");
  const [name, setName] = useState("");
  const publish = useSessionAction(session.session_id, () =>
    nova.sessions.publish(session.session_id, {
      ...(workflow.trim() !== "" && { workflow: workflow.trim() }),
      ...(name.trim() !== "" && { name: name.trim() }),
    }),
  );
  if (publish.data) {
    const { id, version, status, reason } = publish.data;
    return (
      <Dialog
        title={publishWords.title}
        onClose={onClose}
        actions={
          <>
            <Button onClick={onClose}>{texts.common.close}</Button>
            <Link href={`/workflows/${id}`} className="button button-main">
              {publishWords.open}
            </Link>
          </>
        }
      >
        <p role="status">{publishWords.done(version, id, texts.workflows.statuses[status])}</p>
        {reason && (
          <p className="quiet">
            <UntrustedText text={reason} />
          </p>
        )}
      </Dialog>
    );
  }
  return (
    <FormDialog
      title={publishWords.title}
      onClose={onClose}
      isPending={publish.isPending}
      error={publish.error}
      onSubmit={() => publish.mutate(undefined)}
    >
      <TextField
        label={publishWords.workflow}
        hint={publishWords.workflowHint}
        value={workflow}
        autoFocus
        maxLength={64}
        onChange={setWorkflow}
      />
      <TextField
        label={publishWords.name}
        hint={publishWords.nameHint}
        value={name}
        maxLength={200}
        onChange={setName}
      />
    </FormDialog>
  );
}

interface RemoveSessionProps {
  session: Pick<Session, "session_id" | "name">;
  onRemoved?(): void;
  onClose(): void;
}

export function RemoveSession({ session, onRemoved, onClose }: RemoveSessionProps): JSX.Element {
  const nova = useNova();
  const queries = useQueryClient();
  const remove = async () => {
    await nova.sessions.delete(session.session_id);
    await queries.invalidateQueries({ queryKey: ["sessions"] });
    onRemoved?.();
  };
  return (
    <ConfirmDialog title={words.confirmRemove(session.name)} action={words.remove} onConfirm={remove} onClose={onClose}>
      <p className="quiet">{words.confirmRemoveHint}</p>
    </ConfirmDialog>
  );
}
