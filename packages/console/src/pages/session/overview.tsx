import type { Session } from "@nova/client";
import type { JSX } from "react";
import { Link } from "wouter";
import { rawOf } from "../../json/answer.ts";
import { Foreign } from "../../parts/foreign.tsx";
import { JsonView } from "../../parts/json-view.tsx";
import { Time } from "../../parts/time.tsx";
import { texts } from "../../texts.ts";
import { countStates } from "./draft.ts";

const words = texts.sessions;
const maxChanges = 10;

/** How the whole draft stands, and who has changed what. */
export function Overview({ session }: { session: Session }): JSX.Element {
  const { nodes, shape, workflow, client_slug, expires_at, changes } = session;
  const { stale, fresh } = countStates(nodes);
  return (
    <div className="definition-body">
      <dl className="session-facts">
        <dt>{words.columns.nodes}</dt>
        <dd>{words.counts(stale, fresh)}</dd>
        <dt>{words.columns.client}</dt>
        <dd className="mono">{client_slug}</dd>
        <dt>{words.columns.workflow}</dt>
        <dd>
          {workflow === null ? (
            words.ownDraft
          ) : (
            <Link href={`/workflows/${workflow}`} className="session-link">
              {workflow}
            </Link>
          )}
        </dd>
        <dt>{words.columns.until}</dt>
        <dd>
          <Time at={expires_at} />
        </dd>
      </dl>
      <p className="quiet">{words.pick}</p>
      <section>
        <h2>{words.context}</h2>
        <div className="session-value">
          <JsonView text={rawOf(session.context).text} />
        </div>
      </section>
      {shape.kind === "line" && (
        <p className="quiet">
          <Foreign text={shape.why ?? words.line} />
        </p>
      )}
      {shape.findings.length > 0 && (
        <section>
          <h2>{words.findings}</h2>
          <ul className="findings">
            {shape.findings.map(({ code, path, message }) => (
              <li key={`${code} ${path} ${message}`} className="tone-bad">
                <b>{code}</b> <Foreign text={message} />
              </li>
            ))}
          </ul>
        </section>
      )}
      {changes.length > 0 && (
        <section>
          <h2>{words.changes}</h2>
          <ol className="session-changes">
            {changes
              .slice(-maxChanges)
              .reverse()
              .map(({ revision, at, by, what }) => (
                <li key={revision}>
                  <Foreign text={what} />
                  <span className="quiet">
                    <Foreign text={words.change(by)} /> <Time at={at} />
                  </span>
                </li>
              ))}
          </ol>
        </section>
      )}
    </div>
  );
}
