import type { Budgets } from "../../ports/budgets.ts";

/** For runs that no service looks after: nobody counts. */
export const noBudgets: Budgets = { ofMonth: async () => null, note: async () => undefined };
