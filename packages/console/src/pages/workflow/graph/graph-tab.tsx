import { useQuery } from "@tanstack/react-query";
import { type JSX, useMemo } from "react";
import { useNova } from "../../../api/nova.ts";
import { useAddress } from "../../../parts/address.ts";
import { allNodes } from "../../../parts/graph/definition.ts";
import { useKeys } from "../../../parts/keys.tsx";
import { Missing } from "../../../parts/page-head.tsx";
import { Read } from "../../../parts/read.tsx";
import { isMissing } from "../../../parts/trouble.tsx";
import { texts } from "../../../texts.ts";
import { useParts, useWorkflow, type WholeWorkflow } from "../use-workflow.ts";
import { VersionPicker } from "../version-picker.tsx";
import { DefinitionGraph } from "./definition-graph.tsx";
import { findingsByNode } from "./findings.ts";
import { Findings, NodePanel } from "./node-panel.tsx";
import "./graph-tab.css";

const words = texts.workflows.graph;
const { versions } = texts.workflows;

/** The graph of the version that the address names, or else of the one that new runs use. */
export function GraphTab({ workflow: latest }: { workflow: WholeWorkflow }): JSX.Element {
  const [{ version }] = useAddress(["version"]);
  const { id, active_version: active } = latest;
  const shown = useWorkflow(id, versionIn(version) ?? active ?? latest.version);
  if (isMissing(shown.error)) return <Missing words={{ ...versions, back: id }} to={`/workflows/${id}`} />;
  return <Read query={shown}>{(found) => <VersionGraph workflow={found} />}</Read>;
}

function versionIn(text = ""): number | undefined {
  return /^[1-9]\d{0,8}$/.test(text) ? Number(text) : undefined;
}

/** The graph of a version, and beside it the node that was chosen. */
function VersionGraph({ workflow }: { workflow: WholeWorkflow }): JSX.Element {
  const parts = useParts(workflow);
  const [{ node }, change] = useAddress(["node", "version"]);
  const findings = useFindings(workflow);
  const byNode = useMemo(() => findingsByNode(parts.text, findings.data?.findings ?? []), [parts, findings.data]);
  const select = (id: string) => change({ node: id });
  const ids = useMemo(() => allNodes(parts.graph).map(({ id }) => id), [parts.graph]);
  const step = (by: number) => {
    const at = node === undefined ? (by > 0 ? -1 : ids.length) : ids.indexOf(node);
    const next = ids[Math.max(0, Math.min(ids.length - 1, at + by))];
    if (next !== undefined) select(next);
  };
  useKeys({
    j: { says: words.keys.next, run: () => step(1) },
    k: { says: words.keys.previous, run: () => step(-1) },
    Escape: { says: texts.keys.close, run: () => change({ node: undefined }) },
  });
  const chosen = node === undefined ? undefined : parts.nodes.get(node);
  return (
    <div className="definition" data-chosen={chosen !== undefined || undefined}>
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
        {chosen ? (
          <NodePanel
            key={chosen.id}
            node={chosen}
            findings={byNode.get(chosen.id) ?? []}
            onClose={() => change({ node: undefined })}
          />
        ) : (
          <Findings
            {...{ byNode, select, error: findings.error, isPending: findings.isPending }}
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
