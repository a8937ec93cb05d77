export type * from "./workflow.ts";
