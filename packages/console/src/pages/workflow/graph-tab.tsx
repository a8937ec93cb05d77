import { useQuery } from "@tanstack/react-query";
import { useCallback, useMemo } from "react";
import { Link } from "wouter";
import { useNova } from "../../api/nova.ts";
import { findMember, readString } from "../../json/raw.ts";
import { IconButton } from "../../parts/button.tsx";
import { CodeLines } from "../../parts/code.tsx";
import { useAddress } from "../../parts/filters.tsx";
import { type GraphEdge, type GraphNode, listNodes } from "../../parts/graph/definition.ts";
import { type CardLook, type EdgeLook, GraphView } from "../../parts/graph/graph-view.tsx";
import { Icon } from "../../parts/icon.tsx";
import { JsonView } from "../../parts/json-view.tsx";
import { useKeys, useStepKeys } from "../../parts/keyboard.tsx";
import { ErrorNote, Loading, QueryView } from "../../parts/states.tsx";
import { UntrustedText } from "../../parts/untrusted-text.tsx";
import { texts } from "../../texts.ts";
import { type Finding, groupFindings, type NodeText } from "./definition.ts";
import { FindingList } from "./finding-list.tsx";
import { useParts, useWorkflow, VersionPicker, type WholeWorkflow } from "./use-workflow.tsx";

const words = texts.workflows.graph;
const { versions } = texts.workflows;

/** The graph of the version in the address; by default, the version that new runs use. */
export function GraphTab({ workflow: latestVersion }: { workflow: WholeWorkflow }) {
  const [{ version }] = useAddress(["version"]);
  const { id, active_version: active } = latestVersion;
  const query = useWorkflow(id, parseVersion(version) ?? active ?? latestVersion.version);
  return (
    <QueryView query={query} missing={{ words: { ...versions, back: id }, to: `/workflows/${id}` }}>
      {(data) => <VersionGraph workflow={data} />}
    </QueryView>
  );
}

function parseVersion(text = ""): number | undefined {
  return /^[1-9]\d{0,8}$/.test(text) ? Number(text) : undefined;
}

function VersionGraph({ workflow }: { workflow: WholeWorkflow }) {
  const { id, version } = workflow;
  const nova = useNova();
  const parts = useParts(workflow);
  const [{ node }, change] = useAddress(["node", "version"]);
  const query = useQuery({
    queryKey: ["findings", id, version],
    staleTime: 60_000,
    queryFn: () => nova.workflows.findings(id, { version }),
  });
  const byNode = useMemo(() => groupFindings(parts.text, query.data?.findings ?? []), [parts, query.data]);
  const describe = useCallback((one: GraphNode) => describeCard(one, byNode.get(one.id) ?? []), [byNode]);
  const select = (selectedId: string | undefined) => change({ node: selectedId });
  const ids = useMemo(() => listNodes(parts.graph).map((one) => one.id), [parts.graph]);
  useStepKeys(ids, node, select, words.keys);
  useKeys({ Escape: { label: texts.keys.close, run: () => select(undefined) } });
  const selectedNode = node === undefined ? undefined : parts.nodes.get(node);
  return (
    <div className="definition split" data-chosen={selectedNode !== undefined || undefined}>
      <div className="definition-graph">
        <div className="definition-bar">
          <VersionPicker
            label={texts.workflows.shown}
            workflow={id}
            value={version}
            onChange={(to) => change({ version: String(to), node: undefined })}
          />
        </div>
        <GraphView
          key={version}
          graph={parts.graph}
          label={words.label}
          describeCard={describe}
          lookOf={styleEdge}
          selected={node}
          onSelect={select}
        />
      </div>
      <aside className="pane pane-side" aria-label={texts.run.node}>
        {selectedNode ? (
          <NodePanel
            key={selectedNode.id}
            node={selectedNode}
            findings={byNode.get(selectedNode.id) ?? []}
            onClose={() => select(undefined)}
          />
        ) : (
          <Overview byNode={byNode} query={query} definition={parts.text} select={select} />
        )}
      </aside>
    </div>
  );
}

function styleEdge({ label, max }: GraphEdge): EdgeLook {
  return { state: "idle", label: formatEdgeLabel(label, max), isAbove: false };
}

export function formatEdgeLabel(label: string, max: number | undefined): string {
  return [label, max === undefined ? "" : words.max(max)].filter((part) => part !== "").join(", ");
}

export function describeKind({ type, isPrompt }: GraphNode): string {
  return isPrompt ? `${type} · ${words.prompt}` : type;
}

function describeCard(node: GraphNode, findings: readonly Finding[]): CardLook {
  const isBad = findings.some(({ severity }) => severity === "error");
  const look = { tone: node.isPrompt ? "accent" : (tones[node.type] ?? "idle"), note: describeKind(node) };
  if (findings.length === 0) return { ...look, state: "plain" };
  const { length: count } = findings;
  const mark = { icon: "warning", tone: isBad ? "bad" : "wait", label: words.findings(count), count } as const;
  return { ...look, state: isBad ? "bad" : "warned", mark };
}

const tones: Record<string, string> = { approval: "wait", wait: "wait", decision: "run", map: "run", workflow: "run" };

function NodePanel({ node, findings, onClose }: { node: NodeText; findings: readonly Finding[]; onClose(): void }) {
  const { id, type, code, prompt, settings } = node;
  const [description, message, runs] = ["description", "message", "workflow"].map((name) =>
    readString(settings.get(name)),
  );
  const otherSettings = Array.from(settings).filter(([name]) => !["description", "message", "name"].includes(name));
  const inCode = findings.find(({ line }) => line !== undefined);
  return (
    <>
      <header className="pane-head row">
        <UntrustedText as="h2" text={id} />
        <span className="quiet">{type}</span>
        <span className="actions">
          <IconButton icon="cross" label={texts.common.close} onClick={onClose} />
        </span>
      </header>
      <div className="pane-body stack loose">
        {description !== undefined && <UntrustedText as="p" text={description} />}
        {findings.length > 0 && <FindingList findings={findings} showsSeverity />}
        {message !== undefined && <Written label={words.fields.message} text={message} />}
        {prompt !== undefined && <Written label={texts.run.prompt} text={prompt} />}
        {code !== undefined && (
          <section>
            <h3>{texts.run.code}</h3>
            <CodeLines code={code} marked={inCode?.line} />
          </section>
        )}
        {otherSettings.length > 0 && (
          <section>
            <h3>{words.fields.rest}</h3>
            {otherSettings.map(([name, text]) => (
              <JsonView key={name} name={name} text={text} open={2} />
            ))}
          </section>
        )}
        {type === "workflow" && runs !== undefined && (
          <Link href={`/workflows/${runs}`} className="button">
            {words.opens}
          </Link>
        )}
      </div>
    </>
  );
}

function Written({ label, text }: { label: string; text: string }) {
  return (
    <section>
      <h3>{label}</h3>
      <UntrustedText as="pre" className="well prose" text={text} />
    </section>
  );
}

interface OverviewProps {
  byNode: ReadonlyMap<string, readonly Finding[]>;
  query: { isPending: boolean; error: unknown };
  definition: string;
  select(node: string): void;
}

function Overview({ byNode, query: { isPending, error }, definition, select }: OverviewProps) {
  const description = readString(findMember(definition, "description"));
  const count = Array.from(byNode.values()).reduce((sum, { length }) => sum + length, 0);
  const isClean = count === 0 && !isPending && !error;
  const outcome = isPending ? words.checking : words.findingsLost;
  return (
    <div className="pane-body stack loose">
      {description !== undefined && <UntrustedText as="p" text={description} />}
      <p className="quiet">{words.pick}</p>
      <section className="stack loose">
        <h2 className="row">
          {count > 0 ? words.findings(count) : !isClean && outcome}
          {isClean && (
            <>
              {texts.writer.noFindings}
              <span className="center toned tone-ok">
                <Icon name="check" size={14} />
              </span>
            </>
          )}
        </h2>
        {isPending && <Loading lines={2} />}
        <ErrorNote error={error} />
        {Array.from(byNode, ([node, findings]) => (
          <div key={node}>
            {node === "" ? (
              <h3>{words.whole}</h3>
            ) : (
              <button type="button" className="findings-node link in-text" onClick={() => select(node)}>
                <UntrustedText text={node} />
              </button>
            )}
            <FindingList findings={findings} showsSeverity />
          </div>
        ))}
      </section>
    </div>
  );
}
