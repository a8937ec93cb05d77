export { createBudgets } from "../quotas/month.ts";
export { createAftermath } from "./aftermath.ts";
