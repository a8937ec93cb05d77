import { formatUsd, type NovaClient } from "@nova/client";
import { useQuery } from "@tanstack/react-query";
import { Fragment, useMemo, useState } from "react";
import { Link } from "wouter";
import { useNova, workConcurrently } from "../../api/nova.ts";
import { useReload, useWorkflowChoices } from "../../api/queries.ts";
import { asRaw } from "../../json/raw.ts";
import { Button, IconButton } from "../../parts/button.tsx";
import { CodeDiff, CodeView } from "../../parts/code.tsx";
import { ConfirmButton } from "../../parts/dialog.tsx";
import { FilterBar, useAddress } from "../../parts/filters.tsx";
import { asRecord } from "../../parts/graph/definition.ts";
import { Icon, type IconName } from "../../parts/icon.tsx";
import { useStepKeys } from "../../parts/keyboard.tsx";
import { type Fact, Facts, PageHead } from "../../parts/page.tsx";
import { Empty, ListView } from "../../parts/states.tsx";
import { Badge } from "../../parts/status.tsx";
import { TabView } from "../../parts/tabs.tsx";
import { Time } from "../../parts/time.tsx";
import { UntrustedText } from "../../parts/untrusted-text.tsx";
import { WorkflowName } from "../../parts/workflow-name.tsx";
import { texts } from "../../texts.ts";
import {
  buildCodeNodes,
  type Change,
  type CodeNode,
  type CodeState,
  type CodeVersion,
  codeStates,
  compareCodeNodes,
} from "./code-nodes.ts";

const words = texts.code;
const names = ["workflow", "status", "node"] as const;

export function CodePage() {
  const [filters, change] = useAddress(names);
  const { workflow, status } = filters;
  const query = useCode(workflow);
  const workflows = useWorkflowChoices();
  const nodes = useMemo(
    () => (query.data ?? []).filter(({ state }) => status === undefined || state === status),
    [query.data, status],
  );
  const selected = nodes.find(({ key }) => key === filters.node);
  const select = ({ key }: CodeNode) => change({ node: key });
  useStepKeys(nodes, selected, select, words.keys);
  const isFiltered = workflow !== undefined || status !== undefined;
  return (
    <>
      <PageHead title={words.title} note={query.data && words.count(nodes.length)} />
      <FilterBar
        filters={filters}
        change={(changes) => change("workflow" in changes ? { ...changes, node: undefined } : changes)}
        clears={["workflow", "status"]}
        choices={[
          ["workflow", texts.runs.columns.workflow, workflows],
          ["status", texts.runs.columns.status, codeStates.map((state) => [state, words.states[state][0]])],
        ]}
      />
      <ListView
        query={query}
        items={nodes}
        icon="code"
        words={words}
        noneContent={
          isFiltered && (
            <Button onClick={() => change({ workflow: undefined, status: undefined })}>{texts.runs.clear}</Button>
          )
        }
      >
        {() => (
          <div className="split code-split" data-chosen={selected !== undefined || undefined}>
            <NodeList nodes={nodes} selected={selected} onSelect={select} />
            {selected ? (
              <NodeDetail key={selected.key} node={selected} onBack={() => change({ node: undefined })} />
            ) : (
              <div className="code-detail pane">
                <Empty icon="code" title={words.title} hint={words.pick} />
              </div>
            )}
          </div>
        )}
      </ListView>
    </>
  );
}

interface NodeListProps {
  nodes: readonly CodeNode[];
  selected: CodeNode | undefined;
  onSelect(node: CodeNode): void;
}

function NodeList({ nodes, selected, onSelect }: NodeListProps) {
  return (
    <nav className="code-list" aria-label={words.list}>
      <ul>
        {nodes.map((item) => (
          <li key={item.key}>
            <button
              type="button"
              className="code-item pick row"
              aria-current={item === selected || undefined}
              onClick={() => onSelect(item)}
            >
              <span className="lines">
                <UntrustedText as="b" text={item.node} />
                <span className="quiet">
                  <WorkflowName id={item.workflow} />
                  {item.client !== null && ` · ${item.client}`}
                </span>
              </span>
              <StateBadge state={item.state} />
            </button>
          </li>
        ))}
      </ul>
    </nav>
  );
}

/** Reads the prompt nodes of one workflow, or of all workflows. */
function useCode(workflow: string | undefined) {
  const nova = useNova();
  return useQuery({
    queryKey: ["code", workflow],
    staleTime: 20_000,
    async queryFn(): Promise<CodeNode[]> {
      const workflows =
        workflow === undefined ? await Array.fromAsync(nova.workflows.list()) : [await nova.workflows.get(workflow)];
      const nodes: CodeNode[] = [];
      await workConcurrently(workflows, async ({ id, active_version }) => {
        nodes.push(...(await readCodeNodes(nova, id, active_version)));
      });
      return nodes.sort(compareCodeNodes);
    },
  });
}

/** Reads the prompt nodes of the version that new runs use. */
async function readCodeNodes(nova: NovaClient, id: string, version: number | null): Promise<CodeNode[]> {
  const [{ definition }, generations] = await Promise.all([
    nova.workflows.get(id, version === null ? {} : { version }),
    Array.fromAsync(nova.workflows.generations(id)),
  ]);
  // Numbers may lose digits in `JSON.parse`, but the page shows only texts of the definition.
  return buildCodeNodes({ workflow: id, definition: JSON.parse(asRaw(definition).text), generations });
}

/** Shows a node with its current code, or with the version that the user selected in its history. */
function NodeDetail({ node, onBack }: { node: CodeNode; onBack(): void }) {
  const [selectedId, setSelectedId] = useState<string>();
  const version = node.versions.find((one) => buildVersionId(one) === selectedId) ?? node.current;
  const changeCount = version.changes?.length ?? 0;
  const choose = (one: CodeVersion) => setSelectedId(buildVersionId(one));
  const tabs = [
    ["code", words.tabs.code, <Code key="code" version={version} />],
    [
      "why",
      <Fragment key="why">
        {words.tabs.why} {changeCount > 0 && <span className="code-changes">{changeCount}</span>}
      </Fragment>,
      <WrittenFor key="why" version={version} />,
    ],
    ["evidence", words.tabs.evidence, <Evidence key="evidence" version={version} />],
    [
      "history",
      `${words.tabs.history} ${node.versions.length}`,
      <History key="history" node={node} selected={version} onChoose={choose} />,
    ],
  ] as const;
  return (
    <section className="code-detail pane" aria-label={node.node}>
      <header className="code-head pane-head line">
        <span className="code-back">
          <IconButton icon="back" label={words.back} onClick={onBack} />
        </span>
        <UntrustedText as="h2" text={node.node} />
        {version === node.current ? <StateBadge state={node.state} /> : <VersionBadge status={version.status} />}
        <span className="actions">
          <ReviewButtons key={buildVersionId(version)} node={node} version={version} />
        </span>
        <p className="whole small quiet">
          {version.status === "locked" ? (
            <>
              {words.lockedHint} <code>nova lock approve</code>
            </>
          ) : (
            version === node.current && words.states[node.state][1]
          )}
        </p>
      </header>
      <TabView label={words.title} initial="code" tabs={tabs} />
    </section>
  );
}

/**
 * Returns the id of a version. The key alone is not unique, because code that was written for the same inputs has the
 * same key.
 */
function buildVersionId({ key, code_hash, status }: CodeVersion): string {
  return `${key}.${code_hash}.${status === "locked" ? "lock" : "store"}`;
}

function Code({ version: { code, analysis, node } }: { version: CodeVersion }) {
  return (
    <div className="stack loose">
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

/** Buttons that approve or reject code. An approval cannot be undone, but other code can be approved instead. */
function ReviewButtons({ node: { workflow, state, current }, version }: { node: CodeNode; version: CodeVersion }) {
  const nova = useNova();
  const reload = useReload();
  const { node, client_slug, key, code_hash, status, approved } = version;
  if (status === "locked") return null;
  const review = (verdict: "approved" | "rejected") => () =>
    nova.workflows
      .review(workflow, { node, client_slug, key, code_hash, verdict })
      .then(() => reload(["code"], ["/workflows/{id}/generations"]));
  return (
    <>
      {status !== "replaced" && approved === null && (
        <ConfirmButton
          icon="cross"
          tone="danger"
          label={words.reject}
          title={words.confirmReject(node)}
          hint={words.confirmRejectHint}
          onConfirm={review("rejected")}
        />
      )}
      {(approved === null || status !== "pinned") && (
        <ConfirmButton
          icon="check"
          tone={state === "waits" && version === current ? "main" : "plain"}
          label={words.approve}
          title={words.confirmApprove(node)}
          hint={words.confirmApproveHint}
          onConfirm={review("approved")}
        />
      )}
    </>
  );
}

const evidenceWords = texts.code.evidence;

function Evidence({ version }: { version: CodeVersion }) {
  const { model, origin, cost, created_at, proven_by, approved, key, code_hash, client_slug, status } = version;
  const author = origin === "edited" ? `${model}, ${evidenceWords.edited}` : model;
  const facts: Fact[] = [
    [texts.runs.columns.status, <VersionBadge key="status" status={status} />],
    [evidenceWords.provenBy, <Proof key="proof" run={proven_by} />],
    [evidenceWords.approved, <Approval key="approval" approved={approved} />],
    [evidenceWords.model, <UntrustedText key="model" text={author} />],
    [texts.costs.columns.cost, formatUsd(cost.usd)],
    [texts.costs.measures.tokens, evidenceWords.tokens(cost.tokens_input, cost.tokens_cached, cost.tokens_output)],
    [texts.clients.columns.created, <Time key="created" at={created_at} />],
    [texts.runs.columns.client, client_slug ?? texts.common.everyone],
    [texts.run.fields.code, code_hash, "mono hash"],
    [evidenceWords.key, key, "mono hash"],
  ];
  return <Facts className="facts" facts={facts} />;
}

function Proof({ run }: { run: string | null }) {
  if (run === null) return <span className="quiet">{evidenceWords.notProven}</span>;
  return (
    <Link href={`/runs/${run}`} className="link mono">
      {run}
    </Link>
  );
}

function Approval({ approved }: Pick<CodeVersion, "approved">) {
  if (approved === null) return <span className="quiet">{evidenceWords.notApproved}</span>;
  return (
    <>
      <UntrustedText text={evidenceWords.by(approved.by)} />, <Time at={approved.at} />
    </>
  );
}

interface HistoryProps {
  node: CodeNode;
  selected: CodeVersion;
  onChoose(version: CodeVersion): void;
}

/** All versions of a node, and the difference between the selected version and the previous one. */
function History({ node: { node, versions }, selected, onChoose }: HistoryProps) {
  const byAge = versions.toSorted((a, b) => (a.created_at < b.created_at ? 1 : -1));
  const before = byAge[byAge.indexOf(selected) + 1];
  return (
    <div className="stack loose">
      <ol className="card lined">
        {byAge.map((version) => (
          <li key={buildVersionId(version)}>
            <button
              type="button"
              className="version pick line"
              aria-current={version === selected || undefined}
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
      <Difference before={before} after={selected} node={node} />
    </div>
  );
}

function Difference({ before, after, node }: { before: CodeVersion | undefined; after: CodeVersion; node: string }) {
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

function joinCode({ code, analysis }: CodeVersion): string {
  return analysis === null ? code : `# ${words.analysis}\n${analysis}\n\n# ${words.tabs.code}\n${code}`;
}

type Ingredient = keyof typeof words.ingredients;

function WrittenFor({ version: { ingredients, changes } }: { version: CodeVersion }) {
  const facts = (Object.keys(words.ingredients) as Ingredient[]).map(
    (name) => [words.ingredients[name], <Value key={name} value={ingredients[name]} />] as const,
  );
  return (
    <div className="stack loose">
      <Changes changes={changes} />
      <Facts className="facts" facts={facts} />
      <p className="quiet">{words.unknown}</p>
    </div>
  );
}

function Changes({ changes }: { changes: Change[] | undefined }) {
  if (changes === undefined) return <p className="notice tone-bad">{words.gone}</p>;
  if (changes.length === 0) {
    return (
      <p className="notice tone-ok row">
        <Icon name="check" size={14} /> {words.fresh}
      </p>
    );
  }
  return (
    <section aria-label={words.stale} className="stack loose">
      <h3>{words.stale}</h3>
      {changes.map(({ ingredient, part, was, is }) => (
        <div key={`${ingredient} ${part}`} className="card difference">
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

function Side({ label, text, tone }: { label: string; text: string | null; tone: string }) {
  return (
    <div className={`prose tone-${tone}`}>
      <span>{label}</span>
      <Text text={text ?? ""} />
    </div>
  );
}

function Text({ text }: { text: string }) {
  if (text === "") return <span className="quiet">{words.nothing}</span>;
  const [, digest] = /^(?:sha256:)?([0-9a-f]{64})$/.exec(text) ?? [];
  if (digest !== undefined) return <span className="quiet">{words.hashed(digest.slice(0, 12))}</span>;
  return <UntrustedText text={text} />;
}

/** Shows one part of the definition from which code was written: a text, a list, or texts by name. */
function Value({ value }: { value: unknown }) {
  if (Array.isArray(value)) return <Text text={value.join(", ")} />;
  if (value === null || typeof value !== "object") return <Text text={value == null ? "" : String(value)} />;
  const parts = Object.entries(asRecord(value));
  if (parts.length === 0) return <Text text="" />;
  return (
    <ul>
      {parts.map(([name, part]) => (
        <li key={name}>
          <UntrustedText as="span" className="mono" text={name} /> <Text text={String(part)} />
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

function StateBadge({ state }: { state: CodeState }) {
  const [text, title] = words.states[state];
  return <Badge {...looks[state]} text={text} title={title} />;
}

const tones: Record<CodeVersion["status"], string> = {
  locked: "accent",
  pinned: "ok",
  candidate: "run",
  replaced: "idle",
};

function VersionBadge({ status }: Pick<CodeVersion, "status">) {
  return <Badge tone={tones[status]} text={words.versions[status]} />;
}
