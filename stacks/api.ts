import { createAddress, createHttpApi } from "./api/http-api.ts";
import { apiLambdas } from "./api/lambdas.ts";
import { createLambdas } from "./engine/create-lambda.ts";
import { engine } from "./engine.ts";
import { type StackContext, use } from "./sst.ts";
import { stageOf } from "./stage.ts";

/** The HTTP API. */
export function api({ stack, app }: StackContext) {
  const functions = createLambdas(stack, apiLambdas, use(engine).around);
  const address = createAddress(stack, process.env);
  const http = createHttpApi(stack, functions["nova-api"], stageOf(app), address);
  stack.addOutputs({ Url: address ? `https://${address.name}` : http.api.apiEndpoint });
  const host = address?.name ?? `${http.api.apiId}.execute-api.${stack.region}.${stack.urlSuffix}`;
  return { functions, http, host };
}
