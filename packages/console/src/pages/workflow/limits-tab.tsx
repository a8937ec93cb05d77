import type { Schemas } from "@nova/client";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, type JSX, useState } from "react";
import { Link } from "wouter";
import { useNova } from "../../api/nova.ts";
import { Button } from "../../parts/button.tsx";
import { TextField } from "../../parts/field.tsx";
import { Card } from "../../parts/page.tsx";
import { Empty, ErrorNote, QueryView } from "../../parts/states.tsx";
import { type Column, Table } from "../../parts/table.tsx";
import { Time } from "../../parts/time.tsx";
import { texts } from "../../texts.ts";
import { formatDollars } from "../costs/cost-days.ts";
import type { WholeWorkflow } from "./use-workflow.tsx";
import "./tabs.css";

const words = texts.workflows.limits;

type Quotas = Schemas["WorkflowQuotas"];
type Generation = Schemas["Generation"];

/** The quotas of the workflow, and the code that its prompt nodes run. */
export function LimitsTab({ workflow: { id } }: { workflow: WholeWorkflow }): JSX.Element {
  const nova = useNova();
  const quotas = useQuery({
    queryKey: ["workflow-quotas", id],
    queryFn: () => nova.ask(nova.api.GET("/workflows/{id}/quotas", { params: { path: { id } } })),
  });
  const generations = useQuery({
    queryKey: ["generations", id],
    queryFn: () => Array.fromAsync(nova.workflows.generations(id)),
  });
  return (
    <div className="page-body">
      <div className="page-column">
        <Card title={words.quotas} hint={words.quotasHint}>
          <QueryView query={quotas} lines={3}>
            {(data) => <QuotaForm id={id} quotas={data} />}
          </QueryView>
        </Card>
        <Card title={words.pins} hint={words.pinsHint}>
          <QueryView query={generations} lines={3}>
            {(items) =>
              items.length === 0 ? (
                <Empty icon="spark" title={words.noPins} hint={words.noPinsHint} />
              ) : (
                <Table items={items} columns={buildColumns(id)} keyOf={buildKey} />
              )
            }
          </QueryView>
        </Card>
      </div>
    </div>
  );
}

const names = ["max_concurrent", "max_concurrent_per_client"] as const;
const labels = { max_concurrent: words.all, max_concurrent_per_client: words.each };

function isInvalid(text: string): boolean {
  return !/^([1-9]\d{0,2}|1000)?$/.test(text);
}

function QuotaForm({ id, quotas }: { id: string; quotas: Quotas }): JSX.Element {
  const nova = useNova();
  const queries = useQueryClient();
  const [input, setInput] = useState({
    max_concurrent: String(quotas.max_concurrent ?? ""),
    max_concurrent_per_client: String(quotas.max_concurrent_per_client ?? ""),
  });
  const save = useMutation({
    mutationFn: () => {
      const body = Object.fromEntries(names.map((name) => [name, input[name] ? Number(input[name]) : null]));
      return nova.ask(nova.api.PUT("/workflows/{id}/quotas", { params: { path: { id } }, body }));
    },
    onSuccess: () => queries.invalidateQueries({ queryKey: ["workflow-quotas", id] }),
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    save.mutate();
  };
  return (
    <form className="card-body form" onSubmit={submit}>
      <div className="quota-fields">
        {names.map((name) => (
          <TextField
            key={name}
            label={labels[name]}
            inputMode="numeric"
            value={input[name]}
            error={isInvalid(input[name]) ? words.wrong : undefined}
            onChange={(text) => {
              save.reset();
              setInput({ ...input, [name]: text.trim() });
            }}
          />
        ))}
      </div>
      <ErrorNote error={save.error} />
      <div className="form-end saved">
        <Button submit tone="main" disabled={names.some((name) => isInvalid(input[name]))}>
          {texts.common.save}
        </Button>
        <span role="status">{save.isSuccess && texts.common.saved}</span>
      </div>
    </form>
  );
}

const tones = { pinned: "ok", candidate: "wait", replaced: "idle" } as const;

function buildKey({ node, client_slug, key, code_hash }: Generation): string {
  return `${node} ${client_slug} ${key} ${code_hash}`;
}

function buildColumns(workflow: string): Column<Generation>[] {
  const { columns } = words;
  return [
    { label: columns.node, show: ({ node }) => <Link href={`/workflows/${workflow}?node=${node}`}>{node}</Link> },
    {
      label: columns.status,
      show: ({ status }) => (
        <span className={`badge workflow-badge tone-${tones[status]}`}>{words.statuses[status]}</span>
      ),
      look: "fixed",
    },
    { label: columns.client, show: ({ client_slug }) => client_slug ?? words.everybody, look: "wide" },
    { label: columns.model, show: ({ model }) => model, look: "wide mono" },
    { label: columns.cost, show: ({ cost }) => formatDollars(cost.usd), look: "number" },
    { label: columns.created, show: ({ created_at }) => <Time at={created_at} />, look: "fixed wide" },
  ];
}
