import { useQuery } from "@tanstack/react-query";
import { type JSX, useMemo } from "react";
import { useNova } from "../../../api/nova.ts";
import { rawOf } from "../../../json/answer.ts";
import { useAddress } from "../../../parts/address.ts";
import { IconButton } from "../../../parts/button.tsx";
import { CodeDiff } from "../../../parts/code-diff.tsx";
import { Foreign } from "../../../parts/foreign.tsx";
import { Icon } from "../../../parts/icon.tsx";
import { Empty, Failure, Loading } from "../../../parts/states.tsx";
import { texts } from "../../../texts.ts";
import { partsOf } from "../definition-parts.ts";
import type { WholeWorkflow } from "../use-workflow.ts";
import { VersionPicker } from "../version-picker.tsx";
import { diffOf, type NodeDiff, type WorkflowDiff } from "./diff.ts";
import { changeLooks, DiffGraph } from "./diff-graph.tsx";

const words = texts.workflows.versions;
/** Stands in the address for what belongs to no node; no node can have this name. */
const whole = ".";

interface ComparisonProps {
  workflow: WholeWorkflow;
  before: number;
  after: number;
}

/** Two versions: their graph as one, and the code of a node beside it. */
export function Comparison({ workflow, before, after }: ComparisonProps): JSX.Element {
  const [{ node }, change] = useAddress(["before", "after", "node"]);
  const both = useBoth(workflow.id, before, after);
  const diff = both.data;
  const first = useMemo(() => (diff ? firstChanged(diff) : undefined), [diff]);
  const chosen = node ?? first;
  return (
    <>
      <div className="filter-bar">
        <VersionPicker
          label={words.before}
          workflow={workflow.id}
          value={before}
          onChange={(version) => change({ before: String(version), node: undefined })}
        />
        <VersionPicker
          label={words.after}
          workflow={workflow.id}
          value={after}
          onChange={(version) => change({ after: String(version), node: undefined })}
        />
        <IconButton
          icon="cross"
          label={texts.common.back}
          onClick={() => change({ before: undefined, after: undefined, node: undefined })}
        />
      </div>
      {both.isPending ? (
        <Loading />
      ) : both.error || !diff ? (
        <Failure error={both.error} onRetry={() => void both.refetch()} />
      ) : first === undefined && diff.edges.values().every((one) => one === "same") ? (
        <Empty icon="check" title={words.same} hint={words.sides(`v${before}`, `v${after}`)} />
      ) : (
        <div className="comparison">
          <div className="comparison-graph">
            <DiffGraph diff={diff} selected={chosen} onSelect={(id) => change({ node: id })} />
          </div>
          <aside className="comparison-side" aria-label={words.list}>
            <ChangeList diff={diff} chosen={chosen} onSelect={(id) => change({ node: id })} />
            <Chosen diff={diff} chosen={chosen} versions={words.sides(`v${before}`, `v${after}`)} />
          </aside>
        </div>
      )}
    </>
  );
}

function useBoth(id: string, before: number, after: number) {
  const nova = useNova();
  return useQuery({
    queryKey: ["versions", id, "diff", before, after],
    staleTime: Number.POSITIVE_INFINITY,
    structuralSharing: false,
    async queryFn() {
      const [was, is] = await Promise.all(
        [before, after].map(async (version) => {
          const { definition } = await nova.workflows.get(id, { version });
          return partsOf(rawOf(definition).text);
        }),
      );
      return was && is ? diffOf(was, is) : null;
    },
  });
}

function firstChanged({ nodes, settings }: WorkflowDiff): string | undefined {
  const [node] = nodes.entries().find(([, { change }]) => change !== "same") ?? [];
  return node ?? (settings && whole);
}

interface ChangeListProps {
  diff: WorkflowDiff;
  chosen: string | undefined;
  onSelect(node: string): void;
}

function ChangeList({ diff, chosen, onSelect }: ChangeListProps): JSX.Element {
  const changed = Array.from(diff.nodes).filter(([, { change }]) => change !== "same");
  return (
    <ul className="change-list">
      {changed.map(([id, { change }]) => (
        <li key={id}>
          <button
            type="button"
            className={`change tone-${changeLooks[change].tone}`}
            aria-pressed={id === chosen}
            onClick={() => onSelect(id)}
          >
            <Icon name={changeLooks[change].icon ?? "change"} size={12} />
            <Foreign text={id} />
            <span className="hidden-label">{words.changes[change]}</span>
          </button>
        </li>
      ))}
      {diff.settings && (
        <li>
          <button
            type="button"
            className="change tone-wait"
            aria-pressed={chosen === whole}
            onClick={() => onSelect(whole)}
          >
            <Icon name="change" size={12} />
            {words.whole}
          </button>
        </li>
      )}
    </ul>
  );
}

interface ChosenProps {
  diff: WorkflowDiff;
  chosen: string | undefined;
  versions: string;
}

function Chosen({ diff, chosen, versions }: ChosenProps): JSX.Element {
  if (chosen === whole && diff.settings) {
    return <CodeDiff {...diff.settings} label={`${words.whole}, ${versions}`} />;
  }
  const node: NodeDiff | undefined = chosen === undefined ? undefined : diff.nodes.get(chosen);
  if (!node || chosen === undefined) return <p className="quiet">{words.nothing}</p>;
  if (node.change === "same") return <p className="quiet">{words.unchangedNode}</p>;
  return (
    <>
      {node.code && (
        <section>
          <h2>{words.code}</h2>
          <CodeDiff key={`${chosen} code`} {...node.code} label={`${words.code}: ${chosen}, ${versions}`} />
        </section>
      )}
      {node.settings && (
        <section>
          <h2>{words.settings}</h2>
          <CodeDiff key={`${chosen} settings`} {...node.settings} label={`${words.settings}: ${chosen}, ${versions}`} />
        </section>
      )}
    </>
  );
}
