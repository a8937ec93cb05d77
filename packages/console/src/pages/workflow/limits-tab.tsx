import type { Schemas } from "@nova/client";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Link } from "wouter";
import { useNova } from "../../api/nova.ts";
import { useReload } from "../../api/queries.ts";
import { TextField } from "../../parts/field.tsx";
import { Card, PageColumn, SaveForm } from "../../parts/page.tsx";
import { QueryView } from "../../parts/states.tsx";
import { texts } from "../../texts.ts";
import type { WholeWorkflow } from "./use-workflow.tsx";

const words = texts.workflows.limits;

type Quotas = Schemas["WorkflowQuotas"];

/** Shows the quotas of the workflow, and leads to the code that its prompt nodes run. */
export function LimitsTab({ workflow: { id } }: { workflow: WholeWorkflow }) {
  const nova = useNova();
  const quotas = useQuery({
    queryKey: ["workflow-quotas", id],
    queryFn: () => nova.ask(nova.api.GET("/workflows/{id}/quotas", { params: { path: { id } } })),
  });
  return (
    <PageColumn>
      <Card title={words.quotas} hint={words.quotasHint}>
        <QueryView query={quotas} lines={3}>
          {(data) => <QuotaForm id={id} quotas={data} />}
        </QueryView>
      </Card>
      <Card title={words.pins} hint={words.pinsHint}>
        <p className="card-body">
          <Link href={`/code?workflow=${id}`} className="link in-text">
            {words.openPins}
          </Link>
        </p>
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
