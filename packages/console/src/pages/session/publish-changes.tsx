import type { Schemas, Session } from "@nova/client";
import { useQuery } from "@tanstack/react-query";
import { useNova } from "../../api/nova.ts";
import { QueryView } from "../../parts/states.tsx";
import { UntrustedText } from "../../parts/untrusted-text.tsx";
import { texts } from "../../texts.ts";
import { FindingList } from "../workflow/finding-list.tsx";
import { NodeTextDiffs, readVersion } from "../workflow/use-workflow.tsx";
import { diffDraft, readDoc } from "./draft-doc.ts";

const words = texts.build.changes;

export type PublicationFinding = Schemas["CheckedPublication"]["findings"][number];

/** Reads the findings of the compiler for the draft as a workflow. */
export function usePublicationFindings({ session_id: id, revision }: Session) {
  const nova = useNova();
  return useQuery({
    queryKey: ["session", id, "findings", revision],
    queryFn: () => nova.sessions.checkPublication(id),
    placeholderData: (earlier) => earlier,
  });
}

/** Shows the findings of a draft, and its difference to the active version of its workflow. */
export function PublishChanges({ session }: { session: Session }) {
  const { session_id: id, workflow } = session;
  const nova = useNova();
  const findings = usePublicationFindings(session);
  const active = useQuery({
    queryKey: ["session", id, "active", workflow],
    enabled: workflow !== null,
    queryFn: async () => {
      const { active_version: active, version: latest } = await nova.workflows.get(workflow ?? "");
      const { nodes } = await readVersion(nova, workflow ?? "", active ?? latest);
      return nodes;
    },
  });
  const { changed, added, removed } = diffDraft(active.data ?? new Map(), readDoc(session).nodes);
  return (
    <div className="stack loose">
      <QueryView query={findings} lines={2}>
        {({ findings: found }) => (
          <section>
            <h3>{texts.writer.findings}</h3>
            {found.length === 0 && <p className="ok">{texts.writer.noFindings}</p>}
            <FindingList className="tight small" findings={found} />
          </section>
        )}
      </QueryView>
      {active.data && (
        <section className="stack">
          <h3>{words.title(workflow ?? "")}</h3>
          {added.length > 0 && <UntrustedText as="p" text={words.added(added.join(", "))} />}
          {removed.length > 0 && <UntrustedText as="p" text={words.removed(removed.join(", "))} />}
          <NodeTextDiffs changed={changed} />
          {added.length + removed.length + changed.length === 0 && <p className="quiet">{words.same}</p>}
        </section>
      )}
    </div>
  );
}
