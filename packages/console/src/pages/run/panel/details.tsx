import type { ChainEntry } from "@nova/client";
import type { JSX } from "react";
import { Link } from "wouter";
import { Foreign } from "../../../parts/foreign.tsx";
import { Time } from "../../../parts/time.tsx";
import { texts } from "../../../texts.ts";
import "./details.css";

interface DetailsProps {
  entry: ChainEntry;
  credentials: readonly string[] | undefined;
}

/** What proves the link, and where it ran. */
export function Details({ entry, credentials }: DetailsProps): JSX.Element {
  const words = texts.run.fields;
  const rows: [label: string, value: string | null | undefined][] = [
    [words.place, `${entry.seq}${entry.scope}`],
    [words.type, entry.node_type],
    [words.decision, entry.decision_result],
    [words.next, entry.path_taken],
    [words.attempt, String(entry.attempt)],
    [words.credentials, credentials?.join(", ")],
    [words.sandbox, entry.sandbox_id],
    [words.hash, entry.hash],
    [words.prev, entry.prev],
    [words.code, entry.code_hash],
  ];
  return (
    <dl className="details">
      <div>
        <dt>{words.at}</dt>
        <dd>
          <Time at={entry.timestamp} />
        </dd>
      </div>
      {entry.reused_from && (
        <div>
          <dt>{words.reused}</dt>
          <dd className="mono">
            <Source of={entry.reused_from} node={entry.node_id} />
          </dd>
        </div>
      )}
      {rows.map(([label, value]) =>
        value ? (
          <div key={label}>
            <dt>{label}</dt>
            <dd className="mono">
              <Foreign text={value} />
            </dd>
          </div>
        ) : null,
      )}
    </dl>
  );
}

/** The link of another run that came to this. */
function Source({ of, node }: { of: NonNullable<ChainEntry["reused_from"]>; node: string }): JSX.Element {
  const link = `${of.scope}#${of.seq}`;
  return (
    <Link href={`/runs/${of.execution_id}?${new URLSearchParams({ node, link })}`} className="link">
      <Foreign text={`${of.execution_id} ${link}`} />
    </Link>
  );
}
