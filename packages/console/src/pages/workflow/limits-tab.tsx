import { formatUsd, type Schemas } from "@nova/client";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Link } from "wouter";
import { useNova } from "../../api/nova.ts";
import { useList, useReload } from "../../api/queries.ts";
import { TextField } from "../../parts/field.tsx";
import { Card, PageColumn, SaveForm } from "../../parts/page.tsx";
import { ListView, QueryView } from "../../parts/states.tsx";
import { Badge } from "../../parts/status.tsx";
import { type Column, Table } from "../../parts/table.tsx";
import { Time } from "../../parts/time.tsx";
import { texts } from "../../texts.ts";
import type { WholeWorkflow } from "./use-workflow.tsx";

const words = texts.workflows.limits;

type Quotas = Schemas["WorkflowQuotas"];
type Generation = Schemas["Generation"];

/** Shows the quotas of the workflow, and the code that its prompt nodes run. */
export function LimitsTab({ workflow: { id } }: { workflow: WholeWorkflow }) {
  const nova = useNova();
  const quotas = useQuery({
    queryKey: ["workflow-quotas", id],
    queryFn: () => nova.ask(nova.api.GET("/workflows/{id}/quotas", { params: { path: { id } } })),
  });
  const generations = useList("/workflows/{id}/generations", { path: { id } });
  return (
    <PageColumn>
      <Card title={words.quotas} hint={words.quotasHint}>
        <QueryView query={quotas} lines={3}>
          {(data) => <QuotaForm id={id} quotas={data} />}
        </QueryView>
      </Card>
      <Card title={words.pins} hint={words.pinsHint}>
        <ListView
          query={generations}
          lines={3}
          icon="spark"
          words={{ empty: words.noPins, emptyHint: words.noPinsHint }}
        >
          {(items) => <Table items={items} columns={buildColumns(id)} keyOf={buildKey} />}
        </ListView>
      </Card>
    </PageColumn>
  );
}

const names = ["max_concurrent", "max_concurrent_per_client"] as const;
const labels = { max_concurrent: words.all, max_concurrent_per_client: words.each };

function isInvalid(text: string): boolean {
  return !/^([1-9]\d{0,2}|1000)?$/.test(text);
}

function QuotaForm({ id, quotas }: { id: string; quotas: Quotas }) {
  const { api, ask } = useNova();
  const reload = useReload();
  const stored = { max_concurrent: "", max_concurrent_per_client: "" };
  for (const name of names) stored[name] = String(quotas[name] ?? "");
  const [input, setInput] = useState(stored);
  const save = async () => {
    const body = Object.fromEntries(names.map((name) => [name, input[name] ? Number(input[name]) : null]));
    await ask(api.PUT("/workflows/{id}/quotas", { params: { path: { id } }, body }));
    await reload(["workflow-quotas", id]);
  };
  const isChanged = names.some((name) => input[name] !== stored[name]);
  return (
    <SaveForm canSave={isChanged && !names.some((name) => isInvalid(input[name]))} save={save}>
      <div className="columns">
        {names.map((name) => (
          <TextField
            key={name}
            label={labels[name]}
            inputMode="numeric"
            value={input[name]}
            error={isInvalid(input[name]) ? words.wrong : undefined}
            onChange={(text) => setInput({ ...input, [name]: text.trim() })}
          />
        ))}
      </div>
    </SaveForm>
  );
}

const tones = { pinned: "ok", candidate: "wait", replaced: "idle" } as const;

function buildKey({ node, client_slug, key, code_hash }: Generation): string {
  return `${node} ${client_slug} ${key} ${code_hash}`;
}

function buildColumns(workflow: string): Column<Generation>[] {
  const { columns } = words;
  return [
    [columns.node, ({ node }) => <Link href={`/workflows/${workflow}?node=${node}`}>{node}</Link>],
    [columns.status, ({ status }) => <Badge tone={tones[status]} text={words.statuses[status]} />, "fixed"],
    [columns.client, ({ client_slug }) => client_slug ?? words.everybody, "wide"],
    [columns.model, ({ model }) => model, "wide mono"],
    [columns.cost, ({ cost }) => formatUsd(cost.usd), "number"],
    [columns.created, ({ created_at }) => <Time at={created_at} />, "fixed wide"],
  ];
}
