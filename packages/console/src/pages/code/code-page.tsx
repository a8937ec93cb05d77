import type { NovaClient } from "@nova/client";
import { useQuery } from "@tanstack/react-query";
import { type JSX, useMemo } from "react";
import { useNova } from "../../api/nova.ts";
import { useWorkflowIds } from "../../api/queries.ts";
import { asRaw } from "../../json/raw.ts";
import { useAddress } from "../../parts/address.ts";
import { Button } from "../../parts/button.tsx";
import { FilterBar, FilterSelect, toChoices } from "../../parts/filters.tsx";
import { useStepKeys } from "../../parts/keyboard.tsx";
import { PageHead } from "../../parts/page.tsx";
import { Empty, QueryView } from "../../parts/states.tsx";
import { UntrustedText } from "../../parts/untrusted-text.tsx";
import { texts } from "../../texts.ts";
import { buildCodeNodes, type CodeNode, codeStates, compareCodeNodes } from "./code-nodes.ts";
import { NodeDetail, StateBadge } from "./node-detail.tsx";
import "./code-page.css";

const words = texts.code;
const names = ["workflow", "status", "node"] as const;

/** Code written by models, with its status, inputs and approvals. */
export function CodePage(): JSX.Element {
  const [{ workflow, status, node }, change] = useAddress(names);
  const query = useCode(workflow);
  const workflows = useWorkflowIds();
  const nodes = useMemo(
    () => (query.data ?? []).filter(({ state }) => status === undefined || state === status),
    [query.data, status],
  );
  const selected = nodes.find(({ key }) => key === node);
  const select = ({ key }: CodeNode) => change({ node: key });
  useStepKeys(nodes, selected, select, words.keys);
  const isFiltered = workflow !== undefined || status !== undefined;
  const clear = () => change({ workflow: undefined, status: undefined });
  return (
    <>
      <PageHead title={words.title}>
        {query.data && <span className="quiet">{words.count(nodes.length)}</span>}
      </PageHead>
      <FilterBar isFiltered={isFiltered} onClear={clear}>
        <FilterSelect
          label={texts.runs.filters.workflow}
          value={workflow}
          values={toChoices(workflows)}
          onChange={(to) => change({ workflow: to, node: undefined })}
        />
        <FilterSelect
          label={words.status}
          value={status}
          values={codeStates.map((state) => [state, words.states[state]])}
          onChange={(to) => change({ status: to })}
        />
      </FilterBar>
      <QueryView query={query}>
        {() =>
          nodes.length === 0 ? (
            <Nothing isFiltered={isFiltered} clear={clear} />
          ) : (
            <div className="code-split" data-chosen={selected !== undefined || undefined}>
              <NodeList nodes={nodes} selected={selected} onSelect={select} />
              {selected ? (
                <NodeDetail key={selected.key} node={selected} onBack={() => change({ node: undefined })} />
              ) : (
                <div className="code-detail">
                  <Empty icon="code" title={words.title} hint={words.pick} />
                </div>
              )}
            </div>
          )
        }
      </QueryView>
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
  selected: CodeNode | undefined;
  onSelect(node: CodeNode): void;
}

function NodeList({ nodes, selected, onSelect }: NodeListProps): JSX.Element {
  return (
    <nav className="code-list" aria-label={words.list}>
      <ul>
        {nodes.map((item) => (
          <li key={item.key}>
            <button
              type="button"
              className="code-item"
              aria-current={item === selected || undefined}
              onClick={() => onSelect(item)}
            >
              <span className="code-item-name">
                <b>
                  <UntrustedText text={item.node} />
                </b>
                <span className="quiet">
                  {item.client === null ? item.workflow : `${item.workflow} · ${item.client}`}
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

/** Concurrent requests; more would slow the API for other users. */
const concurrency = 4;

/** Reads the prompt nodes of one workflow, or of all workflows. */
export function useCode(workflow: string | undefined) {
  const nova = useNova();
  return useQuery({
    queryKey: ["code", workflow],
    staleTime: 20_000,
    async queryFn(): Promise<CodeNode[]> {
      const workflows =
        workflow === undefined ? await Array.fromAsync(nova.workflows.list()) : [await nova.workflows.get(workflow)];
      const queue = workflows.map(({ id, active_version }) => ({ id, version: active_version }));
      const nodes: CodeNode[] = [];
      const worker = async () => {
        for (let next = queue.shift(); next; next = queue.shift()) nodes.push(...(await readCodeNodes(nova, next)));
      };
      await Promise.all(Array.from({ length: concurrency }, worker));
      return nodes.sort(compareCodeNodes);
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
