import { useQuery } from "@tanstack/react-query";
import type { Node, NodeProps } from "@xyflow/react";
import { type JSX, memo, useCallback, useMemo } from "react";
import { useNova } from "../../api/nova.ts";
import { useAddress } from "../../parts/address.ts";
import { type Graph, type GraphEdge, type GraphNode, listNodes } from "../../parts/graph/definition.ts";
import { type EdgeLook, GraphView } from "../../parts/graph/graph-view.tsx";
import { type CardData, NodeCard } from "../../parts/graph/node-card.tsx";
import { Icon } from "../../parts/icon.tsx";
import { useKeys } from "../../parts/keyboard.tsx";
import { Missing } from "../../parts/page.tsx";
import { isNotFound, QueryView } from "../../parts/states.tsx";
import { texts } from "../../texts.ts";
import { type Finding, groupFindings } from "./findings.ts";
import { Findings, NodePanel } from "./node-panel.tsx";
import { useParts, useWorkflow, VersionPicker, type WholeWorkflow } from "./use-workflow.tsx";
import "./workflow-page.css";

const words = texts.workflows.graph;
const { versions } = texts.workflows;

/** The graph of the version in the address; by default, the version that new runs use. */
export function GraphTab({ workflow: latestVersion }: { workflow: WholeWorkflow }): JSX.Element {
  const [{ version }] = useAddress(["version"]);
  const { id, active_version: active } = latestVersion;
  const query = useWorkflow(id, parseVersion(version) ?? active ?? latestVersion.version);
  if (isNotFound(query.error)) return <Missing words={{ ...versions, back: id }} to={`/workflows/${id}`} />;
  return <QueryView query={query}>{(data) => <VersionGraph workflow={data} />}</QueryView>;
}

function parseVersion(text = ""): number | undefined {
  return /^[1-9]\d{0,8}$/.test(text) ? Number(text) : undefined;
}

/** The graph of a version, and the selected node beside it. */
function VersionGraph({ workflow }: { workflow: WholeWorkflow }): JSX.Element {
  const parts = useParts(workflow);
  const [{ node }, change] = useAddress(["node", "version"]);
  const findings = useFindings(workflow);
  const byNode = useMemo(() => groupFindings(parts.text, findings.data?.findings ?? []), [parts, findings.data]);
  const select = (id: string) => change({ node: id });
  const ids = useMemo(() => listNodes(parts.graph).map(({ id }) => id), [parts.graph]);
  const step = (by: number) => {
    const at = node === undefined ? (by > 0 ? -1 : ids.length) : ids.indexOf(node);
    const next = ids[Math.max(0, Math.min(ids.length - 1, at + by))];
    if (next !== undefined) select(next);
  };
  useKeys({
    j: { label: words.keys.next, run: () => step(1) },
    k: { label: words.keys.previous, run: () => step(-1) },
    Escape: { label: texts.keys.close, run: () => change({ node: undefined }) },
  });
  const selectedNode = node === undefined ? undefined : parts.nodes.get(node);
  return (
    <div className="definition" data-chosen={selectedNode !== undefined || undefined}>
      <div className="definition-graph">
        <div className="definition-bar">
          <VersionPicker
            label={texts.workflows.shown}
            workflow={workflow.id}
            value={workflow.version}
            onChange={(version) => change({ version: String(version), node: undefined })}
          />
        </div>
        <DefinitionGraph
          key={workflow.version}
          graph={parts.graph}
          findings={byNode}
          selected={node}
          onSelect={select}
        />
      </div>
      <aside className="definition-side" aria-label={words.node}>
        {selectedNode ? (
          <NodePanel
            key={selectedNode.id}
            node={selectedNode}
            findings={byNode.get(selectedNode.id) ?? []}
            onClose={() => change({ node: undefined })}
          />
        ) : (
          <Findings
            byNode={byNode}
            select={select}
            error={findings.error}
            isPending={findings.isPending}
            description={parts.text}
          />
        )}
      </aside>
    </div>
  );
}

function useFindings({ id, version }: WholeWorkflow) {
  const nova = useNova();
  return useQuery({
    queryKey: ["findings", id, version],
    staleTime: 60_000,
    queryFn: () => nova.workflows.findings(id, { version }),
  });
}

interface DefinitionGraphProps {
  graph: Graph;
  findings: ReadonlyMap<string, readonly Finding[]>;
  selected: string | undefined;
  onSelect(node: string): void;
}

const nodeTypes = { card: memo(DefinitionCard) };

/** The graph of a definition with findings at its nodes. */
export function DefinitionGraph({ graph, findings, selected, onSelect }: DefinitionGraphProps): JSX.Element {
  const dataOf = useCallback(({ id }: GraphNode) => ({ findings: findings.get(id) }), [findings]);
  return (
    <GraphView
      graph={graph}
      label={words.label}
      nodeTypes={nodeTypes}
      dataOf={dataOf}
      lookOf={styleEdge}
      selected={selected}
      onSelect={onSelect}
    />
  );
}

function styleEdge({ label, max }: GraphEdge): EdgeLook {
  return { state: "idle", label: formatEdgeLabel(label, max), isAbove: false };
}

export function formatEdgeLabel(label: string, max: number | undefined): string {
  return [label, max === undefined ? "" : words.max(max)].filter((part) => part !== "").join(", ");
}

/** Describes the kind of a node. */
export function describeKind({ type, isPrompt }: GraphNode): string {
  const kind = type in words.kinds ? words.kinds[type as keyof typeof words.kinds] : type;
  return isPrompt ? `${kind} · ${words.prompt}` : kind;
}

interface DefinitionData extends CardData {
  findings: readonly Finding[] | undefined;
}

function DefinitionCard({ data, selected }: NodeProps<Node<DefinitionData, "card">>): JSX.Element {
  const { findings = [], ...card } = data;
  const isBad = findings.some(({ severity }) => severity === "error");
  const state = findings.length === 0 ? "plain" : isBad ? "bad" : "warned";
  const end = findings.length > 0 && (
    <span className={`node-findings tone-${isBad ? "bad" : "wait"}`} title={words.findings(findings.length)}>
      <Icon name="warning" size={12} />
      {findings.length}
      <span className="hidden-label">{words.findings(findings.length)}</span>
    </span>
  );
  return (
    <NodeCard
      {...card}
      tone={getNodeTone(card.node)}
      state={state}
      selected={selected}
      end={end}
      note={describeKind(card.node)}
    />
  );
}

export function getNodeTone({ type, isPrompt }: GraphNode): string {
  if (isPrompt) return "accent";
  if (type === "approval" || type === "wait") return "wait";
  return type === "decision" || type === "map" || type === "workflow" ? "run" : "idle";
}
