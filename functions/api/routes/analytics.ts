import * as service from "@nova/service";
import { z } from "zod";
import { listRoute } from "../schemas/list.ts";
import { endOf, Moment, named, Slug, WorkflowId } from "../schemas/values.ts";

const Rate = z.number().min(0).max(1);
const MeanMs = z.number().describe("milliseconds");
const PercentileMs = z.number().nullable().describe("milliseconds, to two significant digits");
const Usd = z.number().describe("US dollars");

const WorkflowFigures = named("WorkflowFigures", {
  workflow: z.string(),
  runs: z.int(),
  completed: z.int(),
  failed: z.int(),
  cancelled: z.int(),
  interrupted: z.int(),
  success_rate: Rate.describe("completed runs of all that ended"),
  mean_ms: MeanMs,
  p50_ms: PercentileMs,
  p95_ms: PercentileMs,
  cost_usd: Usd,
});

const NodeFigures = named("NodeFigures", {
  workflow: z.string(),
  node: z.string(),
  runs: z.int(),
  failed: z.int(),
  success_rate: Rate,
  mean_ms: MeanMs,
  mean_success_ms: MeanMs.nullable().describe("milliseconds, of successful runs; null: none succeeded"),
  p95_ms: PercentileMs,
  cost_usd: Usd,
  cache_hits: z.int(),
});

const ErrorFigures = named("ErrorFigures", {
  workflow: z.string(),
  node: z.string(),
  class: z.string(),
  count: z.int(),
});

const CostFigures = named("CostFigures", {
  day: z.iso.date().describe("UTC, the day on which the runs ended"),
  workflow: z.string(),
  tokens_input: z.int(),
  tokens_cached: z.int(),
  tokens_output: z.int(),
  cost_usd: Usd,
  cache_hits: z.int().describe("runs of existing code"),
  saved_usd: Usd.describe("estimated cost of writing that code again"),
});

const query = {
  workflow: WorkflowId.optional(),
  client: Slug.optional(),
  from: Moment.optional().describe("runs that ended then or later; 30 days ago by default"),
  to: Moment.optional().describe("runs that ended then or earlier; a date means the whole day"),
};

const defaultRangeMs = 30 * 24 * 60 * 60 * 1000;

type Report = (runs: AsyncIterable<service.RunStats>) => Promise<unknown[]>;

function reportRoute(name: string, summary: string, item: z.ZodType, report: Report) {
  return listRoute(`/analytics/${name}`, {
    summary,
    role: "viewer",
    query,
    item,
    list(ports, { by, query: { from, to, ...wanted } }) {
      const now = ports.clock.now();
      const range = {
        from: new Date(from ?? now - defaultRangeMs).toISOString(),
        to: to === undefined ? new Date(now).toISOString() : endOf(to),
      };
      return report(service.statsWithin(ports, by, { ...range, ...wanted }));
    },
  });
}

const byWorkflow = "Runs, success rate, mean, median and 95th percentile of their time, by workflow";
export const workflows = reportRoute("workflows", byWorkflow, WorkflowFigures, service.workflowReports);

const byNode = "Runs, success rate, mean and 95th percentile of their time, by node";
export const nodes = reportRoute("nodes", byNode, NodeFigures, service.nodeReports);

const byClass = "Failures by class and node, the most frequent first";
export const errors = reportRoute("errors", byClass, ErrorFigures, service.errorReports);

const byDay = "Tokens and dollars by day and workflow, and what written code has saved";
export const aiCost = reportRoute("ai-cost", byDay, CostFigures, service.costReports);
