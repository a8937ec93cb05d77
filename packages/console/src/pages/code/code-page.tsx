import { type JSX, useMemo } from "react";
import { useWorkflowIds } from "../../api/use-lists.ts";
import { useAddress } from "../../parts/address.ts";
import { Button, IconButton } from "../../parts/button.tsx";
import { Choice } from "../../parts/choice.tsx";
import { Foreign } from "../../parts/foreign.tsx";
import { useKeys } from "../../parts/keys.tsx";
import { Empty, Loading } from "../../parts/states.tsx";
import { PageFailure } from "../../parts/trouble.tsx";
import { texts } from "../../texts.ts";
import { type CodeNode, codeStates } from "./code-nodes.ts";
import { NodeDetail } from "./node-detail.tsx";
import { StateBadge } from "./state-look.tsx";
import { useCode } from "./use-code.ts";
import "../../parts/filter-bar.css";
import "./code-page.css";

const words = texts.code;
const names = ["workflow", "status", "node"] as const;

/** Code that models wrote: what runs, what it was written for, and who has looked at it. */
export function CodePage(): JSX.Element {
  const [{ workflow, status, node }, change] = useAddress(names);
  const code = useCode(workflow);
  const workflows = useWorkflowIds();
  const nodes = useMemo(
    () => (code.data ?? []).filter(({ state }) => status === undefined || state === status),
    [code.data, status],
  );
  const chosen = nodes.find(({ key }) => key === node);
  useNodeKeys(nodes, chosen, (key) => change({ node: key }));
  const isFiltered = workflow !== undefined || status !== undefined;
  const clear = () => change({ workflow: undefined, status: undefined });
  return (
    <>
      <header className="page-head">
        <h1>{words.title}</h1>
        {code.data && <span className="quiet">{words.count(nodes.length)}</span>}
      </header>
      <div className="filter-bar" role="search">
        <Choice
          label={texts.runs.filters.workflow}
          value={workflow}
          values={workflows.map((id) => [id, id])}
          onChange={(to) => change({ workflow: to, node: undefined })}
        />
        <Choice
          label={words.status}
          value={status}
          values={codeStates.map((state) => [state, words.states[state]])}
          onChange={(to) => change({ status: to })}
        />
        {isFiltered && <IconButton icon="cross" label={texts.runs.clear} onClick={clear} />}
      </div>
      {code.isPending ? (
        <Loading />
      ) : code.error ? (
        <PageFailure error={code.error} onRetry={() => void code.refetch()} />
      ) : nodes.length === 0 ? (
        <Nothing isFiltered={isFiltered} clear={clear} />
      ) : (
        <div className="code-split" data-chosen={chosen !== undefined || undefined}>
          <NodeList nodes={nodes} chosen={chosen} onChoose={(key) => change({ node: key })} />
          {chosen ? (
            <NodeDetail key={chosen.key} node={chosen} onBack={() => change({ node: undefined })} />
          ) : (
            <div className="code-detail">
              <Empty icon="code" title={words.title} hint={words.pick} />
            </div>
          )}
        </div>
      )}
    </>
  );
}

function Nothing({ isFiltered, clear }: { isFiltered: boolean; clear(): void }): JSX.Element {
  if (!isFiltered) return <Empty icon="code" title={words.empty} hint={words.emptyHint} />;
  return (
    <Empty icon="search" title={words.none} hint={words.noneHint}>
      <Button onClick={clear}>{texts.runs.clear}</Button>
    </Empty>
  );
}

interface NodeListProps {
  nodes: readonly CodeNode[];
  chosen: CodeNode | undefined;
  onChoose(key: string): void;
}

function NodeList({ nodes, chosen, onChoose }: NodeListProps): JSX.Element {
  return (
    <nav className="code-list" aria-label={words.list}>
      <ul>
        {nodes.map(({ key, workflow, node, client, state }) => (
          <li key={key}>
            <button
              type="button"
              className="code-item"
              aria-current={key === chosen?.key || undefined}
              onClick={() => onChoose(key)}
            >
              <span className="code-item-name">
                <b>
                  <Foreign text={node} />
                </b>
                <span className="quiet">{client === null ? workflow : `${workflow} · ${client}`}</span>
              </span>
              <StateBadge state={state} />
            </button>
          </li>
        ))}
      </ul>
    </nav>
  );
}

function useNodeKeys(nodes: readonly CodeNode[], chosen: CodeNode | undefined, choose: (key: string) => void): void {
  const step = (by: number) => {
    const at = chosen ? nodes.indexOf(chosen) : by > 0 ? -1 : nodes.length;
    const next = nodes[Math.max(0, Math.min(nodes.length - 1, at + by))];
    if (next) choose(next.key);
  };
  const next = { says: words.keys.next, run: () => step(1) };
  const previous = { says: words.keys.previous, run: () => step(-1) };
  useKeys({ j: next, k: previous });
}
