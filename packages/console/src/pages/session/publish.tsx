import type { Session } from "@nova/client";
import { type JSX, useState } from "react";
import { Link } from "wouter";
import { useNova } from "../../api/nova.ts";
import { Ask } from "../../parts/ask.tsx";
import { Button } from "../../parts/button.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import { TextField } from "../../parts/field.tsx";
import { Foreign } from "../../parts/foreign.tsx";
import { texts } from "../../texts.ts";
import { useAct } from "./use-session.ts";

const words = texts.sessions.publish;

/** Makes the draft the next version of a workflow, and says which. */
export function Publish({ session, onClose }: { session: Session; onClose(): void }): JSX.Element {
  const nova = useNova();
  const [workflow, setWorkflow] = useState(session.workflow ?? "");
  const [name, setName] = useState("");
  const publish = useAct(session.session_id, () =>
    nova.sessions.publish(session.session_id, {
      ...(workflow.trim() !== "" && { workflow: workflow.trim() }),
      ...(name.trim() !== "" && { name: name.trim() }),
    }),
  );
  if (publish.data) {
    const { id, version, status, reason } = publish.data;
    return (
      <Dialog
        title={words.title}
        onClose={onClose}
        actions={
          <>
            <Button onClick={onClose}>{texts.common.close}</Button>
            <Link href={`/workflows/${id}`} className="button button-main">
              {words.open}
            </Link>
          </>
        }
      >
        <p role="status">{words.done(version, id, texts.workflows.statuses[status])}</p>
        {reason && (
          <p className="quiet">
            <Foreign text={reason} />
          </p>
        )}
      </Dialog>
    );
  }
  return (
    <Ask
      {...{ title: words.title, onClose, isPending: publish.isPending, error: publish.error }}
      onSubmit={() => publish.mutate(undefined)}
    >
      <TextField
        label={words.workflow}
        hint={words.workflowHint}
        value={workflow}
        autoFocus
        maxLength={64}
        onChange={setWorkflow}
      />
      <TextField label={words.name} hint={words.nameHint} value={name} maxLength={200} onChange={setName} />
    </Ask>
  );
}
