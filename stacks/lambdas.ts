import { apiLambdas } from "./api/lambdas.ts";
import { engineLambdas } from "./engine/lambdas.ts";
import { triggerLambdas } from "./triggers/lambdas.ts";

export const lambdas = { ...engineLambdas, ...triggerLambdas, ...apiLambdas };

export type LambdaName = keyof typeof lambdas;
