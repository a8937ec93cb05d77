import type { Session } from "@nova/client";
import { type JSX, useRef, useState } from "react";
import { useNova } from "../../api/nova.ts";
import { Ask } from "../../parts/ask.tsx";
import { SelectField, TextField } from "../../parts/field.tsx";
import { texts } from "../../texts.ts";
import { draftGraph, newNode, typedCondition } from "./draft.ts";
import { useAct } from "./use-session.ts";

const words = texts.sessions;

type Kind = Parameters<typeof newNode>[1];
const kinds = Object.entries(words.addNode.kinds) as [Kind, string][];

interface AddNodeProps {
  session: Session;
  /** It is chosen, and likely to be what comes before. */
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
  const add = useAct(id, async () => {
    // Where the edge was refused, the node is there already.
    if (added.current !== node) await nova.sessions.addNode(id, newNode(node, kind));
    added.current = node;
    if (from !== "") await nova.sessions.addEdge(id, { from, to: node });
    onAdded(node);
  });
  const said = words.addNode;
  return (
    <Ask
      {...{ title: said.title, onClose, isPending: add.isPending, error: add.error }}
      onSubmit={() => add.mutate(undefined)}
    >
      <TextField
        label={said.id}
        hint={said.idHint}
        value={node}
        required
        autoFocus
        pattern="[A-Za-z][A-Za-z0-9_\-]*"
        maxLength={64}
        onChange={setNode}
      />
      <SelectField label={said.kind} value={kind} values={kinds} onChange={(one) => setKind(one as Kind)} />
      <SelectField
        label={said.after}
        value={from}
        values={[["", said.first], ...nodes.map(({ node_id: one }) => [one, one] as const)]}
        onChange={setFrom}
      />
    </Ask>
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
  const ids = draftGraph(session).nodes.map((node) => [node.id, node.id] as const);
  const [from, setFrom] = useState(chosen ?? ids[0]?.[0] ?? "");
  const [to, setTo] = useState(ids.find(([one]) => one !== from)?.[0] ?? "");
  const [text, setText] = useState("");
  const condition = typedCondition(text);
  const add = useAct(id, async () => {
    await nova.sessions.addEdge(id, { from, to, ...(condition !== undefined && { condition }) });
    onClose();
  });
  const said = words.addEdge;
  return (
    <Ask
      {...{ title: said.title, onClose, isPending: add.isPending, error: add.error }}
      onSubmit={() => add.mutate(undefined)}
    >
      <SelectField label={said.from} value={from} values={ids} onChange={setFrom} />
      <SelectField label={said.to} value={to} values={ids} onChange={setTo} />
      <TextField label={said.condition} hint={said.conditionHint} value={text} maxLength={200} onChange={setText} />
    </Ask>
  );
}
