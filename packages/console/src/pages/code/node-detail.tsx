import * as Tabs from "@radix-ui/react-tabs";
import { useQueryClient } from "@tanstack/react-query";
import { type JSX, type ReactNode, useState } from "react";
import { Link } from "wouter";
import { useNova } from "../../api/nova.ts";
import { Button, IconButton } from "../../parts/button.tsx";
import { CodeDiff, CodeView } from "../../parts/code.tsx";
import { ConfirmDialog } from "../../parts/dialog.tsx";
import { Icon, type IconName } from "../../parts/icon.tsx";
import { formatUsd, Time } from "../../parts/time.tsx";
import { UntrustedText } from "../../parts/untrusted-text.tsx";
import { texts } from "../../texts.ts";
import type { CodeNode, CodeState, CodeVersion } from "./code-nodes.ts";
import { asRecord, type Change } from "./staleness.ts";
import "../../parts/tabs.css";

const words = texts.code;

/** One node: its current code, or an older version from its history. */
export function NodeDetail({ node, onBack }: { node: CodeNode; onBack(): void }): JSX.Element {
  const [selectedId, setSelectedId] = useState<string>();
  const version = node.versions.find((one) => buildVersionId(one) === selectedId) ?? node.current;
  const views: [name: keyof typeof words.tabs, content: () => JSX.Element][] = [
    ["code", () => <Code version={version} />],
    ["why", () => <WrittenFor version={version} />],
    ["evidence", () => <Evidence version={version} />],
    [
      "history",
      () => <History node={node} selectedId={version} onChoose={(one) => setSelectedId(buildVersionId(one))} />,
    ],
  ];
  return (
    <section className="code-detail" aria-label={node.node}>
      <header className="code-head">
        <span className="code-back">
          <IconButton icon="back" label={words.back} onClick={onBack} />
        </span>
        <h2>
          <UntrustedText text={node.node} />
        </h2>
        {version === node.current ? <StateBadge state={node.state} /> : <VersionBadge status={version.status} />}
        <span className="page-head-end">
          <ReviewButtons
            key={buildVersionId(version)}
            workflow={node.workflow}
            version={version}
            isWaiting={node.state === "waits" && version === node.current}
          />
        </span>
        <p className="code-hint quiet">
          {version.status === "locked" ? (
            <>
              {words.lockedHint} <code>nova lock approve</code>
            </>
          ) : (
            version === node.current && words.stateHints[node.state]
          )}
        </p>
      </header>
      <Tabs.Root className="tabs" defaultValue="code">
        <Tabs.List className="tab-list" aria-label={words.title}>
          {views.map(([name]) => (
            <Tabs.Trigger key={name} value={name} className="tab">
              {words.tabs[name]} {name === "history" && node.versions.length}
              {name === "why" && version.changes !== undefined && version.changes.length > 0 && (
                <span className="code-changes">{version.changes.length}</span>
              )}
            </Tabs.Trigger>
          ))}
        </Tabs.List>
        {views.map(([name, content]) => (
          <Tabs.Content key={name} value={name} className="tab-content">
            {content()}
          </Tabs.Content>
        ))}
      </Tabs.Root>
    </section>
  );
}

/** Returns the id of a version. Two versions may have the same key, if they were written for the same inputs. */
export function buildVersionId({ key, code_hash, status }: CodeVersion): string {
  return `${key}.${code_hash}.${status === "locked" ? "lock" : "store"}`;
}

function Code({ version: { code, analysis, node } }: { version: CodeVersion }): JSX.Element {
  return (
    <div className="form">
      {analysis !== null && (
        <>
          <h3>{words.analysis}</h3>
          <CodeView code={analysis} label={words.analysis} />
          <h3>{words.tabs.code}</h3>
        </>
      )}
      <CodeView code={code} label={words.codeOf(node)} />
    </div>
  );
}

type Verdict = "approved" | "rejected";

/** Buttons that approve or reject code. An approval cannot be undone, but other code can be approved instead. */
export function ReviewButtons({
  workflow,
  version,
  isWaiting,
}: {
  workflow: string;
  version: CodeVersion;
  /** Whether the workflow waits for the approval. */
  isWaiting: boolean;
}): JSX.Element | null {
  const nova = useNova();
  const queries = useQueryClient();
  const [verdict, setVerdict] = useState<Verdict>();
  const { node, client_slug, key, code_hash, status, approved } = version;
  if (status === "locked") return null;
  const review = async (verdict: Verdict) => {
    await nova.workflows.review(workflow, { node, client_slug, key, code_hash, verdict });
    await queries.invalidateQueries({ queryKey: ["code"] });
  };
  return (
    <>
      {status !== "replaced" && approved === null && (
        <Button icon="cross" tone="danger" onClick={() => setVerdict("rejected")}>
          {words.reject}
        </Button>
      )}
      {(approved === null || status !== "pinned") && (
        <Button icon="check" tone={isWaiting ? "main" : "plain"} onClick={() => setVerdict("approved")}>
          {words.approve}
        </Button>
      )}
      {verdict && (
        <ConfirmDialog
          title={verdict === "approved" ? words.confirmApprove(node) : words.confirmReject(node)}
          action={verdict === "approved" ? words.approve : words.reject}
          onConfirm={() => review(verdict)}
          onClose={() => setVerdict(undefined)}
        >
          <p className="quiet">{verdict === "approved" ? words.confirmApproveHint : words.confirmRejectHint}</p>
        </ConfirmDialog>
      )}
    </>
  );
}

const evidenceWords = texts.code.evidence;

/** The author, cost, proof and approval of a version. */
export function Evidence({ version }: { version: CodeVersion }): JSX.Element {
  const { model, origin, cost, created_at, proven_by, approved, key, code_hash, client_slug, status } = version;
  const facts: [label: string, value: ReactNode][] = [
    [evidenceWords.status, <VersionBadge key="status" status={status} />],
    [evidenceWords.provenBy, <Proof key="proof" run={proven_by} />],
    [evidenceWords.approved, <Approval key="approval" approved={approved} />],
    [
      evidenceWords.model,
      origin === "edited" ? `${model}, ${evidenceWords.edited}` : <UntrustedText key="model" text={model} />,
    ],
    [evidenceWords.cost, formatUsd(cost.usd) || "$0"],
    [evidenceWords.tokensName, evidenceWords.tokens(cost.tokens_input, cost.tokens_cached, cost.tokens_output)],
    [evidenceWords.created, <Time key="created" at={created_at} />],
    [evidenceWords.client, client_slug ?? texts.common.everyone],
    [evidenceWords.codeHash, <Hash key="hash" hash={code_hash} />],
    [evidenceWords.key, <Hash key="key" hash={key} />],
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
  if (run === null) return <span className="quiet">{evidenceWords.notProven}</span>;
  return (
    <Link href={`/runs/${run}`} className="link mono">
      {run}
    </Link>
  );
}

function Approval({ approved }: Pick<CodeVersion, "approved">): JSX.Element {
  if (approved === null) return <span className="quiet">{evidenceWords.notApproved}</span>;
  return (
    <>
      <UntrustedText text={evidenceWords.by(approved.by)} />, <Time at={approved.at} />
    </>
  );
}

function Hash({ hash }: { hash: string }): JSX.Element {
  return <span className="mono hash">{hash}</span>;
}

interface HistoryProps {
  node: CodeNode;
  selectedId: CodeVersion;
  onChoose(version: CodeVersion): void;
}

/** All versions of a node, and the difference between the selected version and the previous one. */
export function History({ node: { node, versions }, selectedId, onChoose }: HistoryProps): JSX.Element {
  const byAge = versions.toSorted((a, b) => (a.created_at < b.created_at ? 1 : -1));
  const before = byAge[byAge.indexOf(selectedId) + 1];
  return (
    <div className="form">
      <ol className="versions">
        {byAge.map((version) => (
          <li key={`${version.key}${version.code_hash}${version.status}`}>
            <button
              type="button"
              className="version"
              aria-current={version === selectedId || undefined}
              onClick={() => onChoose(version)}
            >
              <Time at={version.created_at} />
              <VersionBadge status={version.status} />
              <span className="quiet">
                <UntrustedText text={version.model} />
                {version.cost.usd > 0 && ` · ${formatUsd(version.cost.usd)}`}
                {version.approved && ` · ${words.evidence.by(version.approved.by)}`}
              </span>
            </button>
          </li>
        ))}
      </ol>
      <Against before={before} after={selectedId} node={node} />
    </div>
  );
}

function Against({
  before,
  after,
  node,
}: {
  before: CodeVersion | undefined;
  after: CodeVersion;
  node: string;
}): JSX.Element {
  if (before === undefined) {
    return (
      <>
        <h3>{words.first}</h3>
        <CodeView code={joinCode(after)} label={words.codeOf(node)} />
      </>
    );
  }
  if (joinCode(before) === joinCode(after)) return <p className="quiet">{words.same}</p>;
  return (
    <>
      <p className="quiet">{words.historyHint}</p>
      <CodeDiff before={joinCode(before)} after={joinCode(after)} label={words.diff(node)} />
    </>
  );
}

/** Joins an analysis and its code into one text. */
function joinCode({ code, analysis }: CodeVersion): string {
  return analysis === null ? code : `# ${words.analysis}\n${analysis}\n\n# ${words.tabs.code}\n${code}`;
}

type Ingredient = keyof typeof words.ingredients;

/** The inputs for which the code was written, and their changes. */
export function WrittenFor({ version: { ingredients, changes } }: { version: CodeVersion }): JSX.Element {
  return (
    <div className="form">
      <Differences changes={changes} />
      <dl className="facts">
        {(Object.keys(words.ingredients) as Ingredient[]).map((name) => (
          <div key={name}>
            <dt>{words.ingredients[name]}</dt>
            <dd>
              <Value value={ingredients[name]} />
            </dd>
          </div>
        ))}
      </dl>
      <p className="quiet">{words.unknown}</p>
    </div>
  );
}

function Differences({ changes }: { changes: Change[] | undefined }): JSX.Element {
  if (changes === undefined) return <p className="trouble">{words.gone}</p>;
  if (changes.length === 0) {
    return (
      <p className="fits">
        <Icon name="check" size={14} /> {words.fresh}
      </p>
    );
  }
  return (
    <section aria-label={words.stale} className="differences">
      <h3>{words.stale}</h3>
      {changes.map(({ ingredient, part, was, is }) => (
        <div key={`${ingredient} ${part}`} className="difference">
          <h4>
            {words.ingredients[ingredient as Ingredient] ?? ingredient}
            {part !== undefined && (
              <span className="mono">
                {" "}
                <UntrustedText text={part} />
              </span>
            )}
          </h4>
          <Side label={words.was} text={was} tone="bad" />
          <Side label={words.is} text={is} tone="ok" />
        </div>
      ))}
    </section>
  );
}

function Side({ label, text, tone }: { label: string; text: string | null; tone: string }): JSX.Element {
  return (
    <div className={`value-side tone-${tone}`}>
      <span className="value-side-label">{label}</span>
      <Text text={text ?? ""} />
    </div>
  );
}

function Text({ text }: { text: string }): JSX.Element {
  if (text === "") return <span className="quiet">{words.nothing}</span>;
  const [, digest] = /^(?:sha256:)?([0-9a-f]{64})$/.exec(text) ?? [];
  if (digest !== undefined) return <span className="quiet">{words.hashed(digest.slice(0, 12))}</span>;
  return <UntrustedText text={text} />;
}

/** An ingredient: a text, a list, or texts by name. */
function Value({ value }: { value: unknown }): JSX.Element {
  if (Array.isArray(value)) return <Text text={value.join(", ")} />;
  if (value === null || typeof value !== "object") return <Text text={value == null ? "" : String(value)} />;
  const parts = Object.entries(asRecord(value));
  if (parts.length === 0) return <Text text="" />;
  return (
    <ul className="parts">
      {parts.map(([name, part]) => (
        <li key={name}>
          <span className="mono">
            <UntrustedText text={name} />
          </span>{" "}
          <Text text={String(part)} />
        </li>
      ))}
    </ul>
  );
}

const looks: Record<CodeState, { tone: string; icon: IconName }> = {
  waits: { tone: "wait", icon: "person" },
  stale: { tone: "bad", icon: "restart" },
  candidate: { tone: "run", icon: "clock" },
  runs: { tone: "ok", icon: "check" },
  replaced: { tone: "idle", icon: "stop" },
};

export function StateBadge({ state }: { state: CodeState }): JSX.Element {
  const { tone, icon } = looks[state];
  return (
    <span className={`badge tone-${tone}`} title={texts.code.stateHints[state]}>
      <Icon name={icon} size={12} />
      {texts.code.states[state]}
    </span>
  );
}

const tones: Record<CodeVersion["status"], string> = {
  locked: "accent",
  pinned: "ok",
  candidate: "run",
  replaced: "idle",
};

export function VersionBadge({ status }: Pick<CodeVersion, "status">): JSX.Element {
  return <span className={`badge version-badge tone-${tones[status]}`}>{texts.code.versions[status]}</span>;
}
