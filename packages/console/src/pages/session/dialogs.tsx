import type { Session } from "@nova/client";
import { useState } from "react";
import { Link, useLocation } from "wouter";
import { useNova } from "../../api/nova.ts";
import { useReload, useWorkflowChoices } from "../../api/queries.ts";
import { CloseButton, ConfirmButton, Dialog, FormDialog } from "../../parts/dialog.tsx";
import { SelectField, TextField } from "../../parts/field.tsx";
import { toChoices } from "../../parts/filters.tsx";
import { UntrustedText } from "../../parts/untrusted-text.tsx";
import { texts } from "../../texts.ts";
import { buildDraftGraph, createSessionNode, createTool, deriveNodeId, parseCondition, type Scope } from "./draft.ts";
import { addEdge, addNodeAt, type NewPlace } from "./draft-doc.ts";
import { PublishChanges } from "./publish-changes.tsx";
import type { DraftEditing } from "./use-draft.ts";
import { publishDraft, useSessionReload } from "./use-session.ts";

const words = texts.sessions;

type Kind = Parameters<typeof createSessionNode>[0]["kind"];
const kinds = Object.entries(words.addNode.kinds) as [Kind, string][];

interface AddNodeProps {
  session: Scope;
  place: NewPlace;
  draft: DraftEditing;
  onAdded(node: string): void;
}

export function AddNode({ session, place, draft, onAdded }: AddNodeProps) {
  const { nodes, map } = session;
  const workflows = useWorkflowChoices();
  const [name, setName] = useState("");
  const [kind, setKind] = useState<Kind>("code");
  const [called, setCalled] = useState("");
  const [after, setAfter] = useState(place && "after" in place ? place.after : "");
  const ids = nodes.map(({ node_id }) => node_id);
  const id = deriveNodeId(name, session.ids);
  const labels = words.addNode;
  const add = async () => {
    const tool = deriveNodeId(`${id}_tool`, session.ids);
    const text = JSON.stringify(createSessionNode({ id, name: name.trim(), kind, workflow: called, tool }));
    const at = place && "edge" in place ? place : after === "" ? undefined : { after };
    await draft.apply((doc) => {
      const added = addNodeAt(doc, { id, text }, at);
      return kind === "agent" ? { ...added, nodes: [...added.nodes, createTool(tool)] } : added;
    });
    onAdded(id);
  };
  return (
    <FormDialog
      title={labels.title}
      isIncomplete={name.trim() === "" || (kind === "workflow" && called === "")}
      onSubmit={add}
    >
      <TextField
        label={labels.name}
        hint={name.trim() === "" ? labels.nameHint : labels.idOf(id)}
        value={name}
        required
        autoFocus
        maxLength={64}
        onChange={setName}
      />
      <SelectField
        label={labels.kind}
        value={kind}
        values={kinds.filter(([one]) => one !== "end" || map !== undefined)}
        onChange={(one) => setKind(one as Kind)}
      />
      {kind === "workflow" && (
        <SelectField
          label={texts.runs.columns.workflow}
          value={called}
          values={[["", texts.form.choose], ...workflows]}
          onChange={setCalled}
        />
      )}
      {place && "edge" in place ? (
        <p className="quiet">{texts.graph.insert(place.edge.from, place.edge.to)}</p>
      ) : (
        <SelectField
          label={labels.after}
          value={after}
          values={[["", labels.first], ...toChoices(ids)]}
          onChange={setAfter}
        />
      )}
    </FormDialog>
  );
}

interface AddEdgeProps {
  session: Session;
  from: string | undefined;
  draft: DraftEditing;
}

export function AddEdge({ session, from: chosen, draft }: AddEdgeProps) {
  const ids = toChoices(buildDraftGraph(session).nodes.map((node) => node.id));
  const [from, setFrom] = useState(chosen ?? ids[0]?.[0] ?? "");
  const [to, setTo] = useState(ids.find(([one]) => one !== from)?.[0] ?? "");
  const [text, setText] = useState("");
  const [rounds, setRounds] = useState("");
  const condition = parseCondition(text);
  const options = { ...(condition !== undefined && { condition }), ...(rounds !== "" && { max: Number(rounds) }) };
  const add = () => draft.apply((doc) => addEdge(doc, { from, to, ...options }));
  const labels = words.addEdge;
  return (
    <FormDialog title={labels.title} onSubmit={add}>
      <SelectField label={labels.from} value={from} values={ids} onChange={setFrom} />
      <SelectField label={labels.to} value={to} values={ids} onChange={setTo} />
      <TextField label={labels.condition} hint={labels.conditionHint} value={text} maxLength={200} onChange={setText} />
      <TextField
        label={labels.rounds}
        hint={labels.roundsHint}
        value={rounds}
        inputMode="numeric"
        pattern="[1-9][0-9]{0,5}"
        onChange={setRounds}
      />
    </FormDialog>
  );
}

/** Publishes the draft as the next version of a workflow, and shows the version. */
export function Publish({ session }: { session: Session }) {
  const { session_id: id } = session;
  const nova = useNova();
  const reload = useSessionReload(id);
  const [workflow, setWorkflow] = useState(session.workflow ?? "");
  const [name, setName] = useState("");
  const [outcome, setOutcome] = useState<Awaited<ReturnType<typeof publishDraft>>>();
  const publish = async () => {
    const names = { workflow: workflow.trim(), name: name.trim() };
    const request = Object.fromEntries(Object.entries(names).filter(([, text]) => text !== ""));
    setOutcome(await publishDraft(nova, id, request).finally(reload));
  };
  const words = texts.sessions.publish;
  if (outcome) {
    const { version, status, reason } = outcome;
    return (
      <Dialog
        title={words.title}
        actions={
          <>
            <CloseButton />
            <Link href={`/workflows/${outcome.id}`} className="button button-main">
              {words.open}
            </Link>
          </>
        }
      >
        <p role="status">{words.done(version, outcome.id, texts.workflows.statuses[status])}</p>
        {reason && <UntrustedText as="p" className="quiet" text={reason} />}
      </Dialog>
    );
  }
  return (
    <FormDialog title={words.title} staysOpen onSubmit={publish}>
      <TextField
        label={texts.runs.columns.workflow}
        hint={words.workflowHint}
        value={workflow}
        autoFocus
        maxLength={64}
        onChange={setWorkflow}
      />
      <TextField label={words.name} hint={words.nameHint} value={name} maxLength={200} onChange={setName} />
      <PublishChanges session={session} />
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
