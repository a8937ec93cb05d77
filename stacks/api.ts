import type { HttpStage } from "aws-cdk-lib/aws-apigatewayv2";
import type { IFunction } from "aws-cdk-lib/aws-lambda";
import { type StackContext, use } from "sst/constructs";
import { createAddress } from "./api/address.ts";
import { createHttpApi } from "./api/http-api.ts";
import { apiLambdas } from "./api/lambdas.ts";
import { createLambdas } from "./engine/create-lambda.ts";
import { engine } from "./engine.ts";
import { stageOf } from "./stage.ts";
import { withoutCustomResources } from "./without-custom-resources.ts";

/** What is asked over HTTP. */
export interface Api {
  /** Its alias. */
  functions: Record<keyof typeof apiLambdas, IFunction>;
  http: HttpStage;
}

export function api({ stack, app }: StackContext): Api {
  withoutCustomResources(stack);
  const functions = createLambdas(stack, apiLambdas, use(engine).around);
  const address = createAddress(stack, process.env);
  const http = createHttpApi(stack, functions["nova-api"], stageOf(app), address);
  stack.addOutputs({ Url: address ? `https://${address.name}` : http.api.apiEndpoint });
  return { functions, http };
}
