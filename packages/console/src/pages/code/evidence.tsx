import type { JSX, ReactNode } from "react";
import { Link } from "wouter";
import { Foreign } from "../../parts/foreign.tsx";
import { Time, usdText } from "../../parts/time.tsx";
import { texts } from "../../texts.ts";
import type { CodeVersion } from "./code-nodes.ts";
import { VersionBadge } from "./state-look.tsx";

const words = texts.code.evidence;

/** Who wrote it, what for and for how much, which run has proven it, and who has looked at it. */
export function Evidence({ version }: { version: CodeVersion }): JSX.Element {
  const { model, origin, cost, created_at, proven_by, approved, key, code_hash, client_slug, status } = version;
  const facts: [label: string, value: ReactNode][] = [
    [words.status, <VersionBadge key="status" status={status} />],
    [words.provenBy, <Proof key="proof" run={proven_by} />],
    [words.approved, <Approval key="approval" approved={approved} />],
    [words.model, origin === "edited" ? `${model}, ${words.edited}` : <Foreign key="model" text={model} />],
    [words.cost, usdText(cost.usd) || "$0"],
    [words.tokensName, words.tokens(cost.tokens_input, cost.tokens_cached, cost.tokens_output)],
    [words.created, <Time key="created" at={created_at} />],
    [words.client, client_slug ?? texts.common.everyone],
    [words.codeHash, <Hash key="hash" hash={code_hash} />],
    [words.key, <Hash key="key" hash={key} />],
  ];
  return (
    <dl className="facts">
      {facts.map(([label, value]) => (
        <div key={label}>
          <dt>{label}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

function Proof({ run }: { run: string | null }): JSX.Element {
  if (run === null) return <span className="quiet">{words.notProven}</span>;
  return (
    <Link href={`/runs/${run}`} className="link mono">
      {run}
    </Link>
  );
}

function Approval({ approved }: Pick<CodeVersion, "approved">): JSX.Element {
  if (approved === null) return <span className="quiet">{words.notApproved}</span>;
  return (
    <>
      <Foreign text={words.by(approved.by)} />, <Time at={approved.at} />
    </>
  );
}

function Hash({ hash }: { hash: string }): JSX.Element {
  return <span className="mono hash">{hash}</span>;
}
