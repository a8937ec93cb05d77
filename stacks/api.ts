import { AccessLogFormat } from "aws-cdk-lib/aws-apigateway";
import {
  DomainName,
  HttpApi,
  HttpStage,
  type IHttpApi,
  LogGroupLogDestination,
  SecurityPolicy,
} from "aws-cdk-lib/aws-apigatewayv2";
import { HttpLambdaIntegration } from "aws-cdk-lib/aws-apigatewayv2-integrations";
import { Certificate } from "aws-cdk-lib/aws-certificatemanager";
import type { IFunction } from "aws-cdk-lib/aws-lambda";
import { LogGroup } from "aws-cdk-lib/aws-logs";
import { explain } from "./access.ts";
import { engine } from "./engine.ts";
import { answersTasks, closesRuns, makesRoots, makesTriggers, startsRuns, usesCredentials } from "./grants.ts";
import { createLambdas, fillPlans } from "./lambda.ts";
import { type Stage, stageOf } from "./settings.ts";
import { type Stack, type StackContext, use } from "./sst.ts";

/** Creates the stack of the HTTP API. */
export function api({ stack, app }: StackContext) {
  const functions = createLambdas(stack, apiLambdas, use(engine).around);
  const address = createAddress(stack, process.env);
  const http = createHttpApi(stack, functions["nova-api"], stageOf(app), address);
  stack.addOutputs({ Url: address ? `https://${address.name}` : http.api.apiEndpoint });
  const host = address?.name ?? `${http.api.apiId}.execute-api.${stack.region}.${stack.urlSuffix}`;
  return { functions, http, host };
}

/** Requests per second of all callers together. `NOVA_RATE_PER_KEY` limits single keys. */
const throttle = { rateLimit: 200, burstLimit: 400 };

/**
 * The fields of the log line for each request. The line contains no header, query or body, so it contains no key and no
 * data of a run.
 */
const line = {
  requestId: "$context.requestId",
  time: "$context.requestTime",
  ip: "$context.identity.sourceIp",
  method: "$context.httpMethod",
  path: "$context.path",
  status: "$context.status",
  bytes: "$context.responseLength",
  latencyMs: "$context.responseLatency",
  error: "$context.integrationErrorMessage",
};

/** Creates the HTTP API. One function handles all methods and routes. */
function createHttpApi(stack: Stack, handler: IFunction, stage: Stage, domainName?: DomainName): HttpStage {
  const httpApi = new HttpApi(stack, "Api", {
    apiName: "nova",
    createDefaultStage: false,
    defaultIntegration: new HttpLambdaIntegration("Handler", handler),
    ...(domainName && { disableExecuteApiEndpoint: true }),
  });
  const logs = new LogGroup(stack, "AccessLogs", {
    logGroupName: "/aws/vendedlogs/apis/nova",
    retention: stage.logRetention,
    removalPolicy: stage.removal,
  });
  const made = new HttpStage(stack, "Stage", {
    httpApi: httpApi as IHttpApi,
    autoDeploy: true,
    throttle,
    accessLogSettings: {
      destination: new LogGroupLogDestination(logs),
      format: AccessLogFormat.custom(JSON.stringify(line)),
    },
    ...(domainName && { domainMapping: { domainName } }),
  });
  explain(httpApi, "AwsSolutions-APIG4", "The function asks for a key of NOVA's, or a token of the issuer, itself.");
  return made;
}

/**
 * Creates a custom domain name for the API if its name and its certificate are configured. The stack output has the DNS
 * record.
 */
function createAddress(
  stack: Stack,
  { NOVA_API_DOMAIN: domainName, NOVA_API_CERTIFICATE_ARN: certificateArn }: NodeJS.ProcessEnv,
): DomainName | undefined {
  if (!domainName || !certificateArn) return undefined;
  const certificate = Certificate.fromCertificateArn(stack, "Certificate", certificateArn);
  const address = new DomainName(stack, "Address", { domainName, certificate, securityPolicy: SecurityPolicy.TLS_1_2 });
  stack.addOutputs({ Dns: `${domainName} CNAME ${address.regionalDomainName}` });
  return address;
}

/** The one function that serves the API. It hands long work to other functions. */
export const apiLambdas = fillPlans({
  "nova-api": {
    file: "api/index",
    timeoutSeconds: 30,
    memoryMb: 1024,
    may: [
      ...new Set([...closesRuns, ...startsRuns, ...answersTasks, ...makesTriggers, ...usesCredentials]),
      ...makesRoots,
      "signing",
      "checking signatures",
      "published keys",
      "new versions",
      "new definitions",
      "machine versions",
      "reviewed code",
      "gone credentials",
      "new clients",
      "changed clients",
      "keys",
      "new keys",
      "gone keys",
      "request rates",
      "repeated requests",
      "audit log",
      "list of the audit log",
      "figures of workflows",
      "deliveries",
      "sessions",
      "changed sessions",
      "new uploads",
      "new uploaded bytes",
      "proof files",
      "whole events",
      "new tasks",
      "open list",
      "workflow lists",
      "labels",
      "client lists",
      "whole table",
    ],
  },
});
