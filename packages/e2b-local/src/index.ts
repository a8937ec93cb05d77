export { type E2bOptions, type E2bServer, openE2b } from "./open.ts";
export { choosePython, type Python, type PythonNeeds } from "./python.ts";
export { type E2bPlan, e2bPlans } from "./sandboxes.ts";
