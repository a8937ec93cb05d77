import * as service from "@nova/service";
import type { z } from "zod";
import { route } from "../http/route.ts";
import * as schemas from "../schemas/analytics.ts";
import { ListQuery, listAnswer, listOf, pageOfAll, pageQuery } from "../schemas/list.ts";
import { endOf, Moment, Slug, WorkflowId } from "../schemas/values.ts";

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
  item: schemas.WorkflowFigures,
  make: service.workflowReports,
  show: schemas.workflowFigures,
});

export const nodes = reportRoute({
  name: "nodes",
  summary: "Runs, success rate, mean and 95th percentile of their time, by node",
  item: schemas.NodeFigures,
  make: service.nodeReports,
  show: schemas.nodeFigures,
});

export const errors = reportRoute({
  name: "errors",
  summary: "Failures by class and node, the most frequent first",
  item: schemas.ErrorFigures,
  make: service.errorReports,
  show: schemas.errorFigures,
});

export const aiCost = reportRoute({
  name: "ai-cost",
  summary: "Tokens and dollars by day and workflow, and what written code has saved",
  item: schemas.CostFigures,
  make: service.costReports,
  show: schemas.costFigures,
});
