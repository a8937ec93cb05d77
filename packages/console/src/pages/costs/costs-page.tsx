import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { type JSX, useMemo } from "react";
import { useNova } from "../../api/nova.ts";
import { useClientSlugs, useWorkflowIds } from "../../api/queries.ts";
import { useAddress } from "../../parts/address.ts";
import { IconButton } from "../../parts/button.tsx";
import { Segments } from "../../parts/field.tsx";
import { FilterSelect } from "../../parts/filters.tsx";
import { Card, PageHead } from "../../parts/page.tsx";
import { Empty, QueryView } from "../../parts/states.tsx";
import { texts } from "../../texts.ts";
import { CostChart } from "./cost-chart.tsx";
import {
  buildCostChart,
  type CostQuery,
  type CostSums,
  computeFirstDay,
  formatDollars,
  formatTokens,
  type Measure,
  measures,
  sumCosts,
} from "./cost-days.ts";
import { ErrorTable, NodeTable, WorkflowTable } from "./figures.tsx";
import "./costs-page.css";

const words = texts.costs;
const names = ["workflow", "client", "range", "measure"] as const;
const ranges = { "7d": 7, "30d": 30, "90d": 90 } as const;
const usualRange = "30d";

/** Costs of models by day and workflow, with statistics of runs. */
export function CostsPage(): JSX.Element {
  const [{ workflow, client, range, measure: measureName }, change] = useAddress(names);
  const days = ranges[(range ?? usualRange) as keyof typeof ranges] ?? ranges[usualRange];
  const measure = measures.find((one) => one === measureName) ?? "cost";
  const from = computeFirstDay(days, Date.now());
  const filter = useMemo(
    () => ({ from, ...(workflow !== undefined && { workflow }), ...(client !== undefined && { client }) }),
    [from, workflow, client],
  );
  const workflows = useWorkflowIds();
  const clients = useClientSlugs();
  const isFiltered = workflow !== undefined || client !== undefined;
  return (
    <>
      <PageHead title={words.title}>
        <span className="quiet">{words.subtitle(days)}</span>
      </PageHead>
      <div className="filter-bar" role="search">
        <FilterSelect
          label={texts.runs.filters.time}
          value={range}
          values={Object.entries(words.ranges)}
          none={words.usualRange}
          onChange={(to) => change({ range: to })}
        />
        <FilterSelect
          label={texts.runs.filters.workflow}
          value={workflow}
          values={workflows.map((id) => [id, id])}
          onChange={(to) => change({ workflow: to })}
        />
        <FilterSelect
          label={texts.runs.filters.client}
          value={client}
          values={clients.map((slug) => [slug, slug])}
          onChange={(to) => change({ client: to })}
        />
        {isFiltered && (
          <IconButton
            icon="cross"
            label={texts.runs.clear}
            onClick={() => change({ workflow: undefined, client: undefined })}
          />
        )}
      </div>
      <div className="page-body">
        <Figures filter={filter} days={days} measure={measure} onMeasure={(to) => change({ measure: to })} />
      </div>
    </>
  );
}

interface FiguresProps {
  filter: CostQuery;
  days: number;
  measure: Measure;
  onMeasure(measure: Measure): void;
}

function Figures({ filter, days, measure, onMeasure }: FiguresProps): JSX.Element {
  const nova = useNova();
  const costs = useQuery({
    queryKey: ["ai-cost", filter],
    placeholderData: keepPreviousData,
    staleTime: 30_000,
    queryFn: () => Array.fromAsync(nova.list("/analytics/ai-cost", { query: filter })),
  });
  const { data } = costs;
  const chart = useMemo(() => data && buildCostChart(data, measure, days, Date.now()), [data, measure, days]);
  return (
    <QueryView query={costs}>
      {(figures) => (
        <div className="page-column">
          <Sums sums={sumCosts(figures)} />
          <Card
            title={words.byDay}
            end={
              <Segments
                label={words.measure}
                choices={measures.map((one) => [one, words.measures[one]] as const)}
                value={measure}
                onChange={onMeasure}
              />
            }
          >
            {chart && chart.largest > 0 ? (
              <div className="card-body">
                <CostChart chart={chart} measure={measure} />
              </div>
            ) : (
              <Empty icon="coins" title={words.empty[measure]} hint={words.emptyHint} />
            )}
          </Card>
          <WorkflowTable filter={filter} />
          <NodeTable filter={filter} />
          <ErrorTable filter={filter} />
        </div>
      )}
    </QueryView>
  );
}

function Sums({ sums }: { sums: CostSums }): JSX.Element {
  const { costUsd, savedUsd, tokensInput, tokensCached, tokensOutput, cacheHits } = sums;
  const tiles = [
    [words.sums.cost, formatDollars(costUsd), words.sums.costHint],
    [words.sums.saved, formatDollars(savedUsd), words.sums.savedHint(cacheHits)],
    [words.sums.input, formatTokens(tokensInput), words.sums.inputHint(formatTokens(tokensCached))],
    [words.sums.output, formatTokens(tokensOutput), words.sums.outputHint],
  ] as const;
  return (
    <dl className="sums">
      {tiles.map(([label, value, hint]) => (
        <div key={label} className="card sum">
          <dt>{label}</dt>
          <dd>
            <b>{value}</b>
            <span className="quiet">{hint}</span>
          </dd>
        </div>
      ))}
    </dl>
  );
}
