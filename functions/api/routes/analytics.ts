import type { CostReport, ErrorReport, NodeReport, WorkflowReport } from "@nova/service";
import * as service from "@nova/service";
import { z } from "zod";
import { route } from "../http/route.ts";
import { ListQuery, listAnswer, listOf, pageOfAll, pageQuery } from "../schemas/list.ts";
import { endOf, Moment, Slug, WorkflowId } from "../schemas/values.ts";

const Rate = z.number().min(0).max(1);
const MeanMs = z.number().meta({ description: "milliseconds" });
const P95Ms = z.number().nullable().meta({ description: "milliseconds, to two significant digits" });
const Usd = z.number().meta({ description: "US dollars" });

const WorkflowFigures = z
  .object({
    workflow: z.string(),
    runs: z.int(),
    completed: z.int(),
    failed: z.int(),
    cancelled: z.int(),
    interrupted: z.int(),
    success_rate: Rate.meta({ description: "completed runs of all that ended" }),
    mean_ms: MeanMs,
    p95_ms: P95Ms,
    cost_usd: Usd,
  })
  .meta({ id: "WorkflowFigures" });

const NodeFigures = z
  .object({
    workflow: z.string(),
    node: z.string(),
    runs: z.int(),
    failed: z.int(),
    success_rate: Rate,
    mean_ms: MeanMs,
    p95_ms: P95Ms,
    cost_usd: Usd,
    cache_hits: z.int(),
  })
  .meta({ id: "NodeFigures" });

const ErrorFigures = z
  .object({ workflow: z.string(), node: z.string(), class: z.string(), count: z.int() })
  .meta({ id: "ErrorFigures" });

const CostFigures = z
  .object({
    day: z.iso.date().meta({ description: "UTC, the day on which the runs ended" }),
    workflow: z.string(),
    tokens_input: z.int(),
    tokens_cached: z.int(),
    tokens_output: z.int(),
    cost_usd: Usd,
    cache_hits: z.int().meta({ description: "runs of code that was written before" }),
    saved_usd: Usd.meta({ description: "what writing that code again would have cost" }),
  })
  .meta({ id: "CostFigures" });

function workflowFigures({ workflow, runs, byStatus, totalMs, p95Ms, costUsd }: WorkflowReport) {
  return {
    workflow,
    runs,
    ...byStatus,
    success_rate: byStatus.completed / runs,
    mean_ms: totalMs / runs,
    p95_ms: p95Ms,
    cost_usd: costUsd,
  };
}

function nodeFigures({ workflow, node, runs, failed, totalMs, p95Ms, spent, hits }: NodeReport) {
  const failures = Object.values(failed).reduce((sum, count) => sum + count, 0);
  return {
    workflow,
    node,
    runs,
    failed: failures,
    success_rate: (runs - failures) / runs,
    mean_ms: totalMs / runs,
    p95_ms: p95Ms,
    cost_usd: spent?.cost_usd ?? 0,
    cache_hits: hits ?? 0,
  };
}

function errorFigures(report: ErrorReport): ErrorReport {
  return report;
}

function costFigures({ day, workflow, figures: { spent, hits, savedUsd } }: CostReport) {
  return {
    day,
    workflow,
    tokens_input: spent?.tokens_input ?? 0,
    tokens_cached: spent?.tokens_cached ?? 0,
    tokens_output: spent?.tokens_output ?? 0,
    cost_usd: spent?.cost_usd ?? 0,
    cache_hits: hits ?? 0,
    saved_usd: savedUsd ?? 0,
  };
}

const query = ListQuery.extend({
  workflow: WorkflowId.optional(),
  client: Slug.optional(),
  from: Moment.optional().meta({ description: "runs that ended then or later; 30 days ago where absent" }),
  to: Moment.optional().meta({ description: "runs that ended then or earlier; a date means all of that day" }),
});

const defaultRangeMs = 30 * 24 * 60 * 60 * 1000;

interface Report<T> {
  name: string;
  summary: string;
  item: z.ZodType;
  make(runs: AsyncIterable<service.RunStats>): Promise<T[]>;
  show(report: T): unknown;
}

function reportRoute<T>({ name, summary, item, make, show }: Report<T>) {
  return route({
    method: "GET",
    path: `/analytics/${name}`,
    summary,
    role: "viewer",
    query,
    answers: { 200: { description: "a page", schema: listOf(item) } },
    async handle(ports, { by, query: { from, to, workflow, client, ...rest } }) {
      const range = {
        from: new Date(from ?? ports.clock.now() - defaultRangeMs).toISOString(),
        to: to === undefined ? new Date(ports.clock.now()).toISOString() : endOf(to),
        ...(workflow !== undefined && { workflow }),
        ...(client !== undefined && { client }),
      };
      const reports = await make(service.statsWithin(ports, by, range));
      return listAnswer(pageOfAll(reports, pageQuery(rest, /^\d{1,9}$/)), show);
    },
  });
}

export const workflows = reportRoute({
  name: "workflows",
  summary: "Runs, success rate, mean and 95th percentile of their time, by workflow",
  item: WorkflowFigures,
  make: service.workflowReports,
  show: workflowFigures,
});

export const nodes = reportRoute({
  name: "nodes",
  summary: "Runs, success rate, mean and 95th percentile of their time, by node",
  item: NodeFigures,
  make: service.nodeReports,
  show: nodeFigures,
});

export const errors = reportRoute({
  name: "errors",
  summary: "Failures by class and node, the most frequent first",
  item: ErrorFigures,
  make: service.errorReports,
  show: errorFigures,
});

export const aiCost = reportRoute({
  name: "ai-cost",
  summary: "Tokens and dollars by day and workflow, and what written code has saved",
  item: CostFigures,
  make: service.costReports,
  show: costFigures,
});
