import { api, apiLambdas } from "./api.ts";
import { console } from "./console.ts";
import { engine, engineLambdas } from "./engine.ts";
import { monitoring } from "./monitoring.ts";
import { storage } from "./storage.ts";
import { triggerLambdas, triggers } from "./triggers.ts";

/** All stacks. Each may use the stacks before it. */
export const stacks = [storage, engine, triggers, api, console, monitoring];

export const lambdas = { ...engineLambdas, ...triggerLambdas, ...apiLambdas };

export type LambdaName = keyof typeof lambdas;
