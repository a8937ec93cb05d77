import type { Session } from "@nova/client";
import { useRef, useState } from "react";
import { Link, useLocation } from "wouter";
import { useNova } from "../../api/nova.ts";
import { useReload } from "../../api/queries.ts";
import { Button } from "../../parts/button.tsx";
import { ConfirmButton, Dialog, FormDialog } from "../../parts/dialog.tsx";
import { SelectField, TextField } from "../../parts/field.tsx";
import { toChoices } from "../../parts/filters.tsx";
import { UntrustedText } from "../../parts/untrusted-text.tsx";
import { texts } from "../../texts.ts";
import { buildDraftGraph, createSessionNode, parseCondition } from "./draft.ts";
import { useSessionReload } from "./use-session.ts";

const words = texts.sessions;

type Kind = Parameters<typeof createSessionNode>[1];
const kinds = Object.entries(words.addNode.kinds) as [Kind, string][];

interface SessionDialogProps {
  session: Session;
  onClose(): void;
}

interface AddNodeProps extends SessionDialogProps {
  /** The selected node, which is the default predecessor. */
  after: string | undefined;
  onAdded(node: string): void;
}

export function AddNode({ session, after, onAdded, onClose }: AddNodeProps) {
  const nova = useNova();
  const { session_id: id, nodes } = session;
  const [node, setNode] = useState("");
  const [kind, setKind] = useState<Kind>("code");
  const [from, setFrom] = useState(after ?? "");
  const added = useRef("");
  const reload = useSessionReload(id);
  const add = async () => {
    try {
      // If a first attempt added the node but not its edge, only the edge is added now.
      if (added.current !== node) await nova.sessions.addNode(id, createSessionNode(node, kind));
      added.current = node;
      if (from !== "") await nova.sessions.addEdge(id, { from, to: node });
      onAdded(node);
    } finally {
      await reload();
    }
  };
  const labels = words.addNode;
  return (
    <FormDialog title={labels.title} onSubmit={add} onClose={onClose}>
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
        values={[["", labels.first], ...toChoices(nodes.map(({ node_id }) => node_id))]}
        onChange={setFrom}
      />
    </FormDialog>
  );
}

export function AddEdge({ session, from: chosen, onClose }: SessionDialogProps & { from: string | undefined }) {
  const nova = useNova();
  const { session_id: id } = session;
  const ids = toChoices(buildDraftGraph(session).nodes.map((node) => node.id));
  const [from, setFrom] = useState(chosen ?? ids[0]?.[0] ?? "");
  const [to, setTo] = useState(ids.find(([one]) => one !== from)?.[0] ?? "");
  const [text, setText] = useState("");
  const condition = parseCondition(text);
  const reload = useSessionReload(id);
  const add = () =>
    nova.sessions.addEdge(id, { from, to, ...(condition !== undefined && { condition }) }).finally(reload);
  const labels = words.addEdge;
  return (
    <FormDialog title={labels.title} onSubmit={add} onClose={onClose}>
      <SelectField label={labels.from} value={from} values={ids} onChange={setFrom} />
      <SelectField label={labels.to} value={to} values={ids} onChange={setTo} />
      <TextField label={labels.condition} hint={labels.conditionHint} value={text} maxLength={200} onChange={setText} />
    </FormDialog>
  );
}

/** Publishes the draft as the next version of a workflow, and shows the version. */
export function Publish({ session: { session_id: id, ...session }, onClose }: SessionDialogProps) {
  const nova = useNova();
  const reload = useSessionReload(id);
  const [workflow, setWorkflow] = useState(session.workflow ?? "");
  const [name, setName] = useState("");
  const [published, setPublished] = useState<Awaited<ReturnType<typeof nova.sessions.publish>>>();
  const publish = async () => {
    const names = { workflow: workflow.trim(), name: name.trim() };
    const request = Object.fromEntries(Object.entries(names).filter(([, text]) => text !== ""));
    setPublished(await nova.sessions.publish(id, request).finally(reload));
  };
  const words = texts.sessions.publish;
  if (published) {
    const { version, status, reason } = published;
    return (
      <Dialog
        title={words.title}
        onClose={onClose}
        actions={
          <>
            <Button onClick={onClose}>{texts.common.close}</Button>
            <Link href={`/workflows/${published.id}`} className="button button-main">
              {words.open}
            </Link>
          </>
        }
      >
        <p role="status">{words.done(version, published.id, texts.workflows.statuses[status])}</p>
        {reason && <UntrustedText as="p" className="quiet" text={reason} />}
      </Dialog>
    );
  }
  return (
    <FormDialog title={words.title} staysOpen onSubmit={publish} onClose={onClose}>
      <TextField
        label={words.workflow}
        hint={words.workflowHint}
        value={workflow}
        autoFocus
        maxLength={64}
        onChange={setWorkflow}
      />
      <TextField label={words.name} hint={words.nameHint} value={name} maxLength={200} onChange={setName} />
    </FormDialog>
  );
}

export function RemoveSession({ session: { session_id, name } }: { session: Pick<Session, "session_id" | "name"> }) {
  const nova = useNova();
  const reload = useReload();
  const [address, go] = useLocation();
  const remove = async () => {
    await nova.sessions.delete(session_id);
    await reload(["/sessions"]);
    if (address !== "/sessions") go("/sessions");
  };
  return (
    <ConfirmButton
      icon="bin"
      isIcon
      label={words.removeOne(name)}
      title={words.confirmRemove(name)}
      action={words.remove}
      hint={words.confirmRemoveHint}
      onConfirm={remove}
    />
  );
}
