import { z } from "zod";

/** A run in the queue costs a record; a pool's slots lie in one item of the table. */
const maxSlots = 1000;

const Slots = z.int().min(1).max(maxSlots).nullable().optional();
/** A tenth of a cent: no model is asked for less. */
const Usd = z.number().min(0.001).max(1_000_000).nullable().optional();
const Days = z.int().min(1).max(3650).nullable().optional();

export const ClientQuotasBody = z
  .strictObject({
    max_concurrent: Slots.meta({ description: "runs at once, of all workflows together; others are `queued`" }),
    max_cost_usd: Usd.meta({ description: "US dollars that models may cost in a calendar month (UTC)" }),
    retention_days: Days.meta({ description: "days after its end for which the contents of a run are kept" }),
  })
  .meta({ id: "ClientQuotas", description: "null or absent: no limit" });

export const WorkflowQuotasBody = z
  .strictObject({
    max_concurrent: Slots.meta({ description: "runs at once, of all clients together; others are `queued`" }),
    max_concurrent_per_client: Slots.meta({ description: "runs at once of each client" }),
  })
  .meta({ id: "WorkflowQuotas", description: "null or absent: no limit" });
