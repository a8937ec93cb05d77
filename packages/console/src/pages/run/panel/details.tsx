import type { ChainEntry } from "@nova/client";
import type { JSX } from "react";
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
    [
      words.reused,
      entry.reused_from && `${entry.reused_from.execution_id} ${entry.reused_from.scope}#${entry.reused_from.seq}`,
    ],
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
