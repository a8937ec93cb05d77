export { createBudgets } from "../quotas/month.ts";
export { createOnExecutionEnded } from "./on-execution-ended.ts";
