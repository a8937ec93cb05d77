import type { Schemas, Session } from "@nova/client";
import { useQuery } from "@tanstack/react-query";
import { useNova } from "../../api/nova.ts";
import { asRaw, findMember, readString } from "../../json/raw.ts";
import { CodeDiff } from "../../parts/code.tsx";
import { QueryView } from "../../parts/states.tsx";
import { UntrustedText } from "../../parts/untrusted-text.tsx";
import { texts } from "../../texts.ts";
import { parseDefinition } from "../workflow/definition.ts";
import { listNodesInside, readDoc } from "./draft-doc.ts";

const words = texts.build.changes;

export type PublicationFinding = Schemas["CheckedPublication"]["findings"][number];

/** Reads what would be wrong with the draft as a workflow. */
export function usePublicationFindings({ session_id: id, revision }: Session) {
  const nova = useNova();
  return useQuery({
    queryKey: ["session", id, "findings", revision],
    queryFn: () => nova.sessions.checkPublication(id),
    placeholderData: (earlier) => earlier,
  });
}

export function FindingList({ findings }: { findings: readonly PublicationFinding[] }) {
  return (
    <ul className="findings stack tight small">
      {findings.map(({ code, path, severity, message }) => (
        <li key={`${code}${path}${message}`} className={severity === "error" ? "tone-bad" : "tone-wait"}>
          <b>{code}</b> <UntrustedText text={message} />
        </li>
      ))}
    </ul>
  );
}

/** Shows the findings of a draft, and its difference to the active version of its workflow. */
export function PublishChanges({ session }: { session: Session }) {
  const { session_id: id, workflow } = session;
  const nova = useNova();
  const doc = readDoc(session);
  const findings = usePublicationFindings(session);
  const active = useQuery({
    queryKey: ["session", id, "active", workflow],
    enabled: workflow !== null,
    queryFn: async () => {
      const { active_version: version } = await nova.workflows.get(workflow ?? "");
      const { definition } = await nova.workflows.get(workflow ?? "", version === null ? {} : { version });
      return parseDefinition(asRaw(definition).text).nodes;
    },
  });
  const nodes = listNodesInside(doc.nodes);
  const textOf = (text: string) => readString(findMember(text, "code")) ?? readString(findMember(text, "prompt")) ?? "";
  const before = active.data;
  const frame = new Set(["start", "end"]);
  const changed = nodes.filter(({ id: node, text }) => {
    const old = before?.get(node);
    return old !== undefined && (old.code ?? old.prompt ?? "") !== textOf(text);
  });
  const known = new Set(nodes.map((node) => node.id));
  const added = before ? nodes.filter((node) => !before.has(node.id)) : [];
  const removed = Array.from(before?.values() ?? []).filter((node) => !known.has(node.id) && !frame.has(node.type));
  return (
    <div className="stack loose">
      <QueryView query={findings} lines={2}>
        {({ findings: found }) => (
          <section>
            <h3>{words.findings}</h3>
            {found.length === 0 && <p className="ok">{texts.writer.noFindings}</p>}
            <FindingList findings={found} />
          </section>
        )}
      </QueryView>
      {before && (
        <section className="stack">
          <h3>{words.title(workflow ?? "")}</h3>
          {added.length > 0 && <UntrustedText as="p" text={words.added(added.map((node) => node.id).join(", "))} />}
          {removed.length > 0 && (
            <UntrustedText as="p" text={words.removed(removed.map((node) => node.id).join(", "))} />
          )}
          {changed.map((node) => (
            <section key={node.id} className="stack tight">
              <UntrustedText as="h3" text={node.id} />
              <CodeDiff
                before={before.get(node.id)?.code ?? before.get(node.id)?.prompt ?? ""}
                after={textOf(node.text)}
                label={texts.restart.diffOf(node.id)}
              />
            </section>
          ))}
          {added.length + removed.length + changed.length === 0 && <p className="quiet">{words.same}</p>}
        </section>
      )}
    </div>
  );
}
