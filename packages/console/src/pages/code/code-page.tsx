import type { NovaClient } from "@nova/client";
import { useQuery } from "@tanstack/react-query";
import { type JSX, useMemo } from "react";
import { useNova } from "../../api/nova.ts";
import { useWorkflowIds } from "../../api/queries.ts";
import { asRaw } from "../../json/raw.ts";
import { useAddress } from "../../parts/address.ts";
import { Button, IconButton } from "../../parts/button.tsx";
import { FilterSelect } from "../../parts/filters.tsx";
import { useKeys } from "../../parts/keyboard.tsx";
import { Empty, Loading, PageFailure } from "../../parts/states.tsx";
import { UntrustedText } from "../../parts/untrusted-text.tsx";
import { texts } from "../../texts.ts";
import { buildCodeNodes, type CodeNode, codeStates, compareCodeNodes } from "./code-nodes.ts";
import { NodeDetail, StateBadge } from "./node-detail.tsx";
import "../../parts/filters.css";
import "./code-page.css";

const words = texts.code;
const names = ["workflow", "status", "node"] as const;

/** Code written by models, with its status, inputs and approvals. */
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
        <FilterSelect
          label={texts.runs.filters.workflow}
          value={workflow}
          values={workflows.map((id) => [id, id])}
          onChange={(to) => change({ workflow: to, node: undefined })}
        />
        <FilterSelect
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
                  <UntrustedText text={node} />
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
  const next = { label: words.keys.next, run: () => step(1) };
  const previous = { label: words.keys.previous, run: () => step(-1) };
  useKeys({ j: next, k: previous });
}

/** Concurrent requests; more would slow the API for other users. */
const atOnce = 4;

/** Reads the prompt nodes of one workflow, or of all workflows. */
export function useCode(workflow: string | undefined) {
  const nova = useNova();
  return useQuery({
    queryKey: ["code", workflow],
    staleTime: 20_000,
    async queryFn(): Promise<CodeNode[]> {
      const wanted =
        workflow === undefined ? await Array.fromAsync(nova.workflows.list()) : [await nova.workflows.get(workflow)];
      const left = wanted.map(({ id, active_version }) => ({ id, version: active_version }));
      const found: CodeNode[] = [];
      const worker = async () => {
        for (let next = left.shift(); next; next = left.shift()) found.push(...(await readCodeNodes(nova, next)));
      };
      await Promise.all(Array.from({ length: atOnce }, worker));
      return found.sort(compareCodeNodes);
    },
  });
}

/** Reads the nodes of the version that new runs use. */
async function readCodeNodes(
  nova: NovaClient,
  { id, version }: { id: string; version: number | null },
): Promise<CodeNode[]> {
  const [{ definition }, generations] = await Promise.all([
    nova.workflows.get(id, version === null ? {} : { version }),
    Array.fromAsync(nova.workflows.generations(id)),
  ]);
  // Only texts of it are shown, so parsing may change numbers.
  return buildCodeNodes({ workflow: id, definition: JSON.parse(asRaw(definition).text), generations });
}
