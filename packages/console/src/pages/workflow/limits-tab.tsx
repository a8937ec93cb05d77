import type { Schemas } from "@nova/client";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, type JSX, useState } from "react";
import { Link } from "wouter";
import { useNova } from "../../api/nova.ts";
import { Button } from "../../parts/button.tsx";
import { TextField } from "../../parts/field.tsx";
import { Empty, ErrorNote, Loading, PageFailure } from "../../parts/states.tsx";
import { Time } from "../../parts/time.tsx";
import { texts } from "../../texts.ts";
import { formatDollars } from "../costs/cost-days.ts";
import type { WholeWorkflow } from "./use-workflow.tsx";
import "../../parts/sheet.css";
import "./tabs.css";

const words = texts.workflows.limits;

type Quotas = Schemas["WorkflowQuotas"];

/** The quotas of the workflow, and the code that its prompt nodes run. */
export function LimitsTab({ workflow: { id } }: { workflow: WholeWorkflow }): JSX.Element {
  return (
    <div className="page-body">
      <div className="page-column">
        <QuotaCard id={id} />
        <Pins id={id} />
      </div>
    </div>
  );
}

function QuotaCard({ id }: { id: string }): JSX.Element {
  const nova = useNova();
  const quotas = useQuery({
    queryKey: ["workflow-quotas", id],
    queryFn: () => nova.ask(nova.api.GET("/workflows/{id}/quotas", { params: { path: { id } } })),
  });
  return (
    <section className="card" aria-label={words.quotas}>
      <header className="card-head">
        <h2>{words.quotas}</h2>
        <span className="quiet">{words.quotasHint}</span>
      </header>
      {quotas.isPending ? (
        <Loading lines={3} />
      ) : quotas.error ? (
        <PageFailure error={quotas.error} onRetry={() => void quotas.refetch()} />
      ) : (
        <QuotaForm key={JSON.stringify(quotas.data)} id={id} quotas={quotas.data} />
      )}
    </section>
  );
}

const names = ["max_concurrent", "max_concurrent_per_client"] as const;
const labels = { max_concurrent: words.all, max_concurrent_per_client: words.each };

function QuotaForm({ id, quotas }: { id: string; quotas: Quotas }): JSX.Element {
  const nova = useNova();
  const queries = useQueryClient();
  const [typed, setTyped] = useState(() => Object.fromEntries(names.map((name) => [name, String(quotas[name] ?? "")])));
  const [error, setError] = useState<unknown>();
  const [isSaved, setSaved] = useState(false);
  const isWrong = (text: string) => !/^([1-9]\d{0,2}|1000)?$/.test(text);
  const save = async (event: FormEvent) => {
    event.preventDefault();
    setError(undefined);
    const body = Object.fromEntries(names.map((name) => [name, typed[name] ? Number(typed[name]) : null]));
    try {
      await nova.ask(nova.api.PUT("/workflows/{id}/quotas", { params: { path: { id } }, body }));
      setSaved(true);
      await queries.invalidateQueries({ queryKey: ["workflow-quotas", id] });
    } catch (refused) {
      setError(refused);
    }
  };
  return (
    <form className="card-body quota-form" onSubmit={save}>
      <div className="quota-fields">
        {names.map((name) => (
          <TextField
            key={name}
            label={labels[name]}
            inputMode="numeric"
            value={typed[name] ?? ""}
            error={isWrong(typed[name] ?? "") ? words.wrong : undefined}
            onChange={(text) => {
              setSaved(false);
              setTyped({ ...typed, [name]: text.trim() });
            }}
          />
        ))}
      </div>
      <ErrorNote error={error} />
      <div className="quota-acts">
        <Button submit tone="main" disabled={names.some((name) => isWrong(typed[name] ?? ""))}>
          {texts.common.save}
        </Button>
        <span role="status">{isSaved && texts.common.saved}</span>
      </div>
    </form>
  );
}

function Pins({ id }: { id: string }): JSX.Element {
  const nova = useNova();
  const pins = useQuery({
    queryKey: ["generations", id],
    queryFn: () => Array.fromAsync(nova.workflows.generations(id)),
  });
  return (
    <section className="card" aria-label={words.pins}>
      <header className="card-head">
        <h2>{words.pins}</h2>
        <span className="quiet">{words.pinsHint}</span>
      </header>
      {pins.isPending ? (
        <Loading lines={3} />
      ) : pins.error ? (
        <PageFailure error={pins.error} onRetry={() => void pins.refetch()} />
      ) : pins.data.length === 0 ? (
        <Empty icon="spark" title={words.noPins} hint={words.noPinsHint} />
      ) : (
        <PinTable pins={pins.data} id={id} />
      )}
    </section>
  );
}

const tones = { pinned: "ok", candidate: "wait", replaced: "idle" } as const;

function PinTable({ pins, id }: { pins: readonly Schemas["Generation"][]; id: string }): JSX.Element {
  const { columns } = words;
  return (
    <div className="sheet-box">
      <table className="sheet">
        <thead>
          <tr>
            <th scope="col">{columns.node}</th>
            <th scope="col">{columns.status}</th>
            <th scope="col" className="wide">
              {columns.client}
            </th>
            <th scope="col" className="wide">
              {columns.model}
            </th>
            <th scope="col" className="number">
              {columns.cost}
            </th>
            <th scope="col" className="wide">
              {columns.created}
            </th>
          </tr>
        </thead>
        <tbody>
          {pins.map(({ node, status, client_slug, model, cost, created_at, key, code_hash }) => (
            <tr key={`${node} ${client_slug} ${key} ${code_hash}`}>
              <td>
                <Link href={`/workflows/${id}?node=${node}`}>{node}</Link>
              </td>
              <td className="fixed">
                <span className={`badge workflow-badge tone-${tones[status]}`}>{words.statuses[status]}</span>
              </td>
              <td className="wide">{client_slug ?? words.everybody}</td>
              <td className="wide mono">{model}</td>
              <td className="number">{formatDollars(cost.usd)}</td>
              <td className="fixed wide">
                <Time at={created_at} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
