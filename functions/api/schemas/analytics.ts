import type { CostReport, ErrorReport, NodeReport, WorkflowReport } from "@nova/service";
import { z } from "zod";

const Rate = z.number().min(0).max(1);
const MeanMs = z.number().meta({ description: "milliseconds" });
const P95Ms = z.number().nullable().meta({ description: "milliseconds, to two significant digits" });
const Usd = z.number().meta({ description: "US dollars" });

export const WorkflowFigures = z
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

export const NodeFigures = z
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

export const ErrorFigures = z
  .object({ workflow: z.string(), node: z.string(), class: z.string(), count: z.int() })
  .meta({ id: "ErrorFigures" });

export const CostFigures = z
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

export function workflowFigures({ workflow, runs, byStatus, totalMs, p95Ms, costUsd }: WorkflowReport) {
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

export function nodeFigures({ workflow, node, runs, failed, totalMs, p95Ms, spent, hits }: NodeReport) {
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

export function errorFigures(report: ErrorReport): ErrorReport {
  return report;
}

export function costFigures({ day, workflow, figures: { spent, hits, savedUsd } }: CostReport) {
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
