import type { Session } from "@nova/client";
import { Link } from "wouter";
import { asRaw, findMember, readString } from "../../json/raw.ts";
import { JsonView } from "../../parts/json-view.tsx";
import { type Fact, Facts } from "../../parts/page.tsx";
import { Time } from "../../parts/time.tsx";
import { UntrustedText } from "../../parts/untrusted-text.tsx";
import { WorkflowName } from "../../parts/workflow-name.tsx";
import { texts } from "../../texts.ts";
import { FindingList } from "../workflow/finding-list.tsx";
import { countStates, findSessionNode, readDefinition } from "./draft.ts";
import { listTriggers } from "./draft-doc.ts";

const words = texts.sessions;
const buildWords = texts.build;

const maxChanges = 10;

/** The panel of a draft while no node is chosen. */
export function DraftOverview({ session, map }: { session: Session; map: string | undefined }) {
  const { nodes, shape, workflow, client_slug, expires_at, changes } = session;
  const { stale, fresh } = countStates(nodes);
  const origin = workflow !== null && (
    <Link href={`/workflows/${workflow}`} className="link in-text">
      <WorkflowName id={workflow} />
    </Link>
  );
  const kinds: Readonly<Record<string, string>> = buildWords.triggers.kinds;
  const triggers = listTriggers(session.settings).map(({ type }) => kinds[String(type)] ?? String(type));
  const facts: Fact[] = [
    [
      buildWords.triggers.title,
      <Link key="triggers" href={`/sessions/${session.session_id}?view=settings`} className="link in-text">
        <UntrustedText text={triggers.join(", ") || buildWords.triggers.add} />
      </Link>,
    ],
    [words.columns.nodes, words.counts(stale, fresh)],
    [texts.runs.columns.client, client_slug, "mono"],
    [texts.runs.columns.workflow, origin || words.ownDraft],
    [words.columns.until, <Time key="until" at={expires_at} />],
  ];
  return (
    <div className="pane-body stack loose">
      {map !== undefined && <MapHint session={session} map={map} />}
      <Facts className="session-facts" facts={facts} />
      <p className="quiet">{words.pick}</p>
      <section>
        <h2>{words.context}</h2>
        <div className="session-value well">
          <JsonView text={asRaw(session.context).text} />
        </div>
      </section>
      {shape.kind === "line" && <UntrustedText as="p" className="quiet" text={shape.why ?? words.line} />}
      {shape.findings.length > 0 && (
        <section>
          <h2>{words.findings}</h2>
          <FindingList findings={shape.findings} />
        </section>
      )}
      {changes.length > 0 && (
        <section>
          <h2>{words.changes}</h2>
          <ol className="stack">
            {changes
              .slice(-maxChanges)
              .reverse()
              .map(({ revision, at, by, what }) => (
                <li key={revision} className="stack tight break">
                  <UntrustedText text={what} />
                  <span className="quiet">
                    <UntrustedText text={words.change(by)} /> <Time at={at} />
                  </span>
                </li>
              ))}
          </ol>
        </section>
      )}
    </div>
  );
}

/** Shows when the nodes of a map run, and which item a node of the map receives if the user runs this node alone. */
function MapHint({ session, map }: { session: Session; map: string }) {
  const found = findSessionNode(session, map);
  const items = found && readString(findMember(readDefinition(found), "items"));
  return (
    <p>
      <UntrustedText text={buildWords.inside.hint(items ?? "its list")} /> {buildWords.inside.first}
    </p>
  );
}
