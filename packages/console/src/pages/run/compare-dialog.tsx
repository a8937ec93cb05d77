import { formatDuration, formatUsd, type ItemOf, type WholeExecution } from "@nova/client";
import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { useNova } from "../../api/nova.ts";
import { usePages, useWorkflowName } from "../../api/queries.ts";
import { asRaw, listElements, readMembers, readString } from "../../json/raw.ts";
import type { Root } from "../../json/tree.ts";
import { Dialog } from "../../parts/dialog.tsx";
import { SelectField } from "../../parts/field.tsx";
import { describeRun } from "../../parts/run-text.ts";
import { QueryView } from "../../parts/states.tsx";
import { type Column, Table } from "../../parts/table.tsx";
import { UntrustedText } from "../../parts/untrusted-text.tsx";
import { Values } from "../../parts/value.tsx";
import { texts } from "../../texts.ts";

const words = texts.run.compare;
type NodeDiff = ItemOf<"/executions/{a}/diff/{b}">;
/** Number of runs of the workflow that the dialog offers for the comparison. */
const offered = 30;
/** Maximum number of nodes that the dialog shows, because the table renders all its rows. */
const maxShown = 200;

interface CompareDialogProps {
  run: WholeExecution;
  /** The id of the other run; undefined before the user has chosen a run. */
  other: string | undefined;
  onChoose(other: string): void;
}

/** Compares the run with another run, node by node, as `nova diff` does. */
export function CompareDialog({ run, other, onChoose }: CompareDialogProps) {
  const { execution_id: id, workflow, ended_at } = run;
  const nova = useNova();
  const { data } = usePages("/executions", { query: { workflow, limit: offered } });
  const runs = data?.filter(({ execution_id }) => execution_id !== id);
  const diff = useQuery({
    queryKey: ["diff", other, id, ended_at],
    enabled: other !== undefined,
    queryFn: () => Array.fromAsync(nova.executions.diff(other as string, id)),
  });
  const nameOf = useWorkflowName();
  const listed = (runs ?? []).map((one) => [one.execution_id, describeRun(one, nameOf)] as const);
  const isListed = other === undefined || listed.some(([one]) => one === other);
  const choices = [["", words.none] as const, ...(isListed ? [] : [[other, other] as const]), ...listed];
  return (
    <Dialog title={words.title} isWide>
      <div className="stack loose">
        <SelectField
          label={words.other}
          hint={runs?.length === 0 ? words.notHere : words.hint}
          value={other ?? ""}
          values={choices}
          onChange={onChoose}
        />
        {other !== undefined && (
          <QueryView query={diff}>{(nodes) => <Nodes nodes={nodes} run={id} other={other} />}</QueryView>
        )}
      </div>
    </Dialog>
  );
}

function Nodes({ nodes, run, other }: { nodes: readonly NodeDiff[]; run: string; other: string }) {
  const different = nodes.filter(isDifferent);
  const same = nodes.length - different.length;
  return (
    <>
      {different.length > 0 && (
        <Table
          label={words.title}
          items={different.slice(0, maxShown)}
          columns={buildColumns(run, other)}
          keyOf={({ place }) => place}
        />
      )}
      {different.length > maxShown && <p className="quiet">{texts.common.more(different.length - maxShown)}</p>}
      {same > 0 && <p className="quiet">{words.same(same)}</p>}
    </>
  );
}

/** Returns whether a node differs between the two runs in more than its time. */
function isDifferent({ path, definition, code, context, cost: { was, is } }: NodeDiff): boolean {
  const isSame = path === "both" && definition.same && code.same && listElements(asRaw(context).text).length === 0;
  return !isSame || was?.cost_usd !== is?.cost_usd;
}

function buildColumns(run: string, other: string): Column<NodeDiff>[] {
  const { columns, different, paths } = words;
  const changed = ({ path }: NodeDiff, { same }: { same: boolean }) => (same || path !== "both" ? "" : different);
  const both = ({ cost: { was, is } }: NodeDiff, format: (cost: NonNullable<typeof was>) => string) =>
    Array.from(new Set([was, is].flatMap((cost) => (cost ? [format(cost)] : [])))).join(" → ");
  return [
    [texts.run.node, ({ place }) => <UntrustedText as="span" className="mono" text={place} />],
    [columns.path, ({ path }) => (path === "both" ? "" : paths[path])],
    [columns.definition, (node) => changed(node, node.definition)],
    [texts.run.code, (node) => changed(node, node.code)],
    [texts.costs.columns.cost, (node) => both(node, ({ cost_usd: usd }) => (usd === 0 ? "" : formatUsd(usd))), "fixed"],
    [texts.runs.filters.time, (node) => both(node, ({ execution_time_ms: ms }) => formatDuration(ms)), "fixed"],
    [
      columns.values,
      ({ path, context }) => path === "both" && <Changes text={asRaw(context).text} home={[other, run]} />,
    ],
  ];
}

/**
 * Shows the values of the keys that a node set differently in the two runs: first the values of the other run, then the
 * values of this run.
 */
function Changes({ text, home: [other, run] }: { text: string; home: readonly [other: string, run: string] }) {
  const roots = useMemo(() => {
    const members = listElements(text).map(readMembers);
    const rootsOf = (side: "was" | "is", look: string) =>
      members.flatMap((one): Root[] => {
        const value = one.get(side) ?? "null";
        return value === "null" ? [] : [{ key: readString(one.get("key")) ?? "", text: value, open: 0, look }];
      });
    return { was: rootsOf("was", "key-before"), is: rootsOf("is", "key-after") };
  }, [text]);
  return (
    <>
      {roots.was.length > 0 && <Values roots={roots.was} home={{ execution: other }} />}
      {roots.is.length > 0 && <Values roots={roots.is} home={{ execution: run }} />}
    </>
  );
}
