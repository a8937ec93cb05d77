import type { Schemas } from "@nova/client";
import { useQuery } from "@tanstack/react-query";
import { useCallback } from "react";
import { useNova } from "../../api/nova.ts";
import { describeCount } from "../../api/queries.ts";
import { Button, IconButton } from "../../parts/button.tsx";
import { CodeDiff } from "../../parts/code.tsx";
import { useAddress } from "../../parts/filters.tsx";
import type { GraphEdge, GraphNode } from "../../parts/graph/definition.ts";
import { type CardLook, GraphView } from "../../parts/graph/graph-view.tsx";
import { Icon, type IconName } from "../../parts/icon.tsx";
import { Card, PageColumn } from "../../parts/page.tsx";
import { Empty, LoadMore, QueryView } from "../../parts/states.tsx";
import { Badge } from "../../parts/status.tsx";
import { Time } from "../../parts/time.tsx";
import { UntrustedText } from "../../parts/untrusted-text.tsx";
import { texts } from "../../texts.ts";
import { type Change, diffWorkflows, formatEdgeName, type WorkflowDiff } from "./definition.ts";
import { describeKind, formatEdgeLabel } from "./graph-tab.tsx";
import { ActivateButton, readVersion, useVersions, VersionPicker, type WholeWorkflow } from "./use-workflow.tsx";

const words = texts.workflows.versions;

type Version = Schemas["WorkflowVersion"];

export function VersionsTab({ workflow }: { workflow: WholeWorkflow }) {
  const [filters] = useAddress(["before", "after"]);
  const [before, after] = [Number(filters.before), Number(filters.after)];
  const isComparison = [before, after].every((version) => Number.isSafeInteger(version) && version > 0);
  if (isComparison) return <Comparison workflow={workflow.id} before={before} after={after} />;
  return <VersionList workflow={workflow} />;
}

function VersionList({ workflow }: { workflow: WholeWorkflow }) {
  const query = useVersions(workflow.id);
  const count = query.data?.length ?? 0;
  return (
    <PageColumn>
      <Card
        title={texts.workflows.tabs.versions}
        hint={count > 1 ? describeCount(query, count, words.count) : words.one}
      >
        <QueryView query={query}>
          {(items) => (
            <ol className="lined">
              {items.map((item, index) => (
                <VersionRow key={item.version} item={item} before={items[index + 1]?.version} workflow={workflow} />
              ))}
            </ol>
          )}
        </QueryView>
        {query.hasNextPage && (
          <div className="card-body">
            <LoadMore query={query} label={words.more} />
          </div>
        )}
      </Card>
    </PageColumn>
  );
}

interface VersionRowProps {
  item: Version;
  /** The number of the previous version; undefined for the first one. */
  before: number | undefined;
  workflow: WholeWorkflow;
}

function VersionRow({ item, before, workflow }: VersionRowProps) {
  const { version, active, status, reason, created_at, hash } = item;
  const [, change] = useAddress(["before", "after"]);
  return (
    <li className="version-row line">
      <b>{texts.workflows.version(version)}</b>
      {active && <Badge tone="ok" text={words.active} />}
      {status !== "ready" && (
        <Badge tone={status === "failed" ? "bad" : "run"} text={texts.workflows.statuses[status]} />
      )}
      <span className="quiet">
        <Time at={created_at} />
      </span>
      <span className="mono quiet wide" title={hash}>
        {hash.slice(0, 12)}
      </span>
      <span className="actions">
        {before !== undefined && (
          <Button onClick={() => change({ before: String(before), after: String(version) })}>
            {words.compareWith(before)}
          </Button>
        )}
        {!active && status === "ready" && (
          <ActivateButton workflow={workflow} version={version} label={words.activate} />
        )}
      </span>
      {reason !== undefined && <UntrustedText as="p" className="whole bad break" text={reason} />}
    </li>
  );
}

/** The value of `node` in the address that selects the settings of the workflow. No node can have this id. */
const whole = ".";

/** Compares two versions: one graph for both, and the difference of the selected node. */
function Comparison({ workflow: id, before, after }: { workflow: string; before: number; after: number }) {
  const [{ node }, change] = useAddress(["before", "after", "node"]);
  const query = useDiff(id, before, after);
  const versions = words.sides(`v${before}`, `v${after}`);
  const choose = (side: "before" | "after") => (version: number) =>
    change({ [side]: String(version), node: undefined });
  return (
    <>
      <div className="filter-bar bar">
        <VersionPicker label={words.before} workflow={id} value={before} onChange={choose("before")} />
        <VersionPicker label={words.after} workflow={id} value={after} onChange={choose("after")} />
        <IconButton
          icon="cross"
          label={texts.common.back}
          onClick={() => change({ before: undefined, after: undefined, node: undefined })}
        />
      </div>
      <QueryView query={query}>
        {(diff) => {
          const first = findFirstChange(diff);
          const areEdgesSame = diff.edges.values().every((change) => change === "same");
          if (first === undefined && areEdgesSame) return <Empty icon="check" title={words.same} hint={versions} />;
          const selected = node ?? first;
          const select = (to: string) => change({ node: to });
          return (
            <div className="comparison split">
              <div>
                <DiffGraph diff={diff} selected={selected} onSelect={select} />
              </div>
              <aside className="pane pane-side pane-body stack loose" aria-label={words.list}>
                <ChangeList diff={diff} selected={selected} onSelect={select} />
                <SelectedChange diff={diff} selected={selected} versions={versions} />
              </aside>
            </div>
          );
        }}
      </QueryView>
    </>
  );
}

function useDiff(id: string, before: number, after: number) {
  const nova = useNova();
  return useQuery({
    queryKey: ["versions", id, "diff", before, after],
    staleTime: Number.POSITIVE_INFINITY,
    structuralSharing: false,
    async queryFn() {
      return diffWorkflows(...(await Promise.all([readVersion(nova, id, before), readVersion(nova, id, after)])));
    },
  });
}

function findFirstChange({ nodes, settings }: WorkflowDiff): string | undefined {
  const [node] = nodes.entries().find(([, { change }]) => change !== "same") ?? [];
  return node ?? (settings && whole);
}

interface ChangeProps {
  diff: WorkflowDiff;
  selected: string | undefined;
  onSelect(node: string): void;
}

function ChangeList({ diff, selected, onSelect }: ChangeProps) {
  const changed = Array.from(diff.nodes, ([id, { change }]) => ({ id, change })).filter(
    ({ change }) => change !== "same",
  );
  if (diff.settings) changed.push({ id: whole, change: "changed" });
  return (
    <ul className="line">
      {changed.map(({ id, change }) => (
        <li key={id}>
          <button
            type="button"
            className={`change tone-${changeLooks[change].tone}`}
            aria-pressed={id === selected}
            onClick={() => onSelect(id)}
          >
            <Icon name={changeLooks[change].icon ?? "change"} size={12} />
            <UntrustedText text={id === whole ? words.whole : id} />
            {id !== whole && <span className="hidden-label">{words.changes[change]}</span>}
          </button>
        </li>
      ))}
    </ul>
  );
}

interface SelectedChangeProps extends Pick<ChangeProps, "diff" | "selected"> {
  versions: string;
}

function SelectedChange({ diff, selected, versions }: SelectedChangeProps) {
  if (selected === whole && diff.settings) {
    return <CodeDiff {...diff.settings} label={`${words.whole}, ${versions}`} />;
  }
  const node = diff.nodes.get(selected ?? "");
  if (!node) return <p className="quiet">{words.nothing}</p>;
  if (node.change === "same") return <p className="quiet">{words.unchangedNode}</p>;
  return (["code", "settings"] as const).map((part) => {
    const sides = node[part];
    return (
      sides && (
        <section key={`${selected} ${part}`}>
          <h2>{words[part]}</h2>
          <CodeDiff {...sides} label={`${words[part]}: ${selected}, ${versions}`} />
        </section>
      )
    );
  });
}

const changeLooks: Record<Change, { tone: string; icon: IconName | undefined }> = {
  added: { tone: "ok", icon: "plus" },
  removed: { tone: "bad", icon: "minus" },
  changed: { tone: "wait", icon: "change" },
  same: { tone: "idle", icon: undefined },
};

/** One graph for both versions, with added, removed and changed nodes. */
function DiffGraph({ diff, selected, onSelect }: ChangeProps) {
  const describeCard = useCallback(
    (node: GraphNode): CardLook => {
      const change = diff.nodes.get(node.id)?.change ?? "same";
      const { tone, icon } = changeLooks[change];
      const [kind, label] = [describeKind(node), words.changes[change]];
      return change === "same"
        ? { tone, state: change, note: kind }
        : { tone, state: change, note: `${kind} · ${label}`, mark: { icon, label } };
    },
    [diff],
  );
  const lookOf = useCallback(
    (edge: GraphEdge) => {
      const change = diff.edges.get(formatEdgeName(edge)) ?? "same";
      return {
        state: change === "same" ? "idle" : change,
        label: formatEdgeLabel(edge.label, edge.max),
        isAbove: change !== "same",
      };
    },
    [diff],
  );
  return (
    <GraphView
      graph={diff.graph}
      label={words.graph}
      describeCard={describeCard}
      lookOf={lookOf}
      selected={selected}
      onSelect={onSelect}
    />
  );
}
