import type { Session } from "@nova/client";
import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useMemo, useState } from "react";
import { useNova } from "../../api/nova.ts";
import { Raw } from "../../json/raw.ts";
import { TextArea } from "../../parts/field.tsx";
import { SaveForm } from "../../parts/page.tsx";
import { texts } from "../../texts.ts";
import { parseWorkflowText, readDoc, renderWorkflow } from "./draft-doc.ts";

const words = texts.build.json;

/** Shows the workflow of the draft as JSON, which the user can edit. */
export function JsonTab({ session }: { session: Session }) {
  const { session_id: id, name, settings } = session;
  const nova = useNova();
  const queries = useQueryClient();
  const now = useMemo(() => renderWorkflow(readDoc(session), name, settings), [session, name, settings]);
  const [typed, setTyped] = useState<{ text: string; base: string; revision: number }>();
  // If the typed text equals the text of the draft, there is no change to save.
  useEffect(() => setTyped((before) => (before?.text === now ? undefined : before)), [now]);
  const text = typed?.text ?? now;
  const parsed = typed && parseWorkflowText(typed.text);
  const problem = typeof parsed === "string" ? words.misfit(parsed) : undefined;
  const save = async () => {
    if (!typed || parsed === undefined || typeof parsed === "string") return;
    const { nodes, edges, name: renamed = name, settings: changed } = parsed;
    const parts = { name: renamed, settings: changed, nodes: nodes.map((one) => new Raw(one.text)), edges };
    const answer = await nova.sessions.change(id, parts, { revision: typed.revision });
    queries.setQueryData(["session", id], answer);
    setTyped(undefined);
  };
  return (
    <SaveForm
      className="json-tab stack"
      canSave={typed !== undefined && problem === undefined}
      save={save}
      action={words.apply}
      discard={typed && { label: texts.sessions.node.revert, run: () => setTyped(undefined) }}
    >
      <TextArea
        label={words.label}
        hint={typed && typed.base !== now ? words.changed : undefined}
        error={problem}
        value={text}
        rows={30}
        onChange={(changed) =>
          setTyped({ text: changed, base: typed?.base ?? now, revision: typed?.revision ?? session.revision })
        }
      />
    </SaveForm>
  );
}
