import { z } from "zod";

/** One item of the table holds all slots of a quota. */
const maxSlots = 1000;

const Slots = z.int().min(1).max(maxSlots).nullable().optional();
/** A tenth of a cent, less than any request to a model costs. */
const Usd = z.number().min(0.001).max(1_000_000).nullable().optional();
const Days = z.int().min(1).max(3650).nullable().optional();

export const ClientQuotasBody = z
  .strictObject({
    max_concurrent: Slots.meta({ description: "simultaneous runs, of all workflows together; others are `queued`" }),
    max_cost_usd: Usd.meta({ description: "US dollars that models may cost in a calendar month (UTC)" }),
    retention_days: Days.meta({ description: "days for which NOVA keeps the contents of a run after its end" }),
  })
  .meta({ id: "ClientQuotas", description: "null or absent: no limit" });

export const WorkflowQuotasBody = z
  .strictObject({
    max_concurrent: Slots.meta({ description: "simultaneous runs, of all clients together; others are `queued`" }),
    max_concurrent_per_client: Slots.meta({ description: "simultaneous runs of each client" }),
  })
  .meta({ id: "WorkflowQuotas", description: "null or absent: no limit" });
