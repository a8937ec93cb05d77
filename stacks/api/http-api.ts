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
import { explain } from "../findings.ts";
import type { Stack } from "../sst.ts";
import type { Stage } from "../stage.ts";

/** Requests per second of all callers together. `NOVA_RATE_PER_KEY` limits single keys. */
const throttle = { rateLimit: 200, burstLimit: 400 };

/** One log line per request. It contains no header, query or body, so no key and no data of a run. */
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
export function createHttpApi(stack: Stack, handler: IFunction, stage: Stage, domainName?: DomainName): HttpStage {
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

/** Creates a custom domain name for the API if both variables are set. The stack output has the DNS record. */
export function createAddress(
  stack: Stack,
  { NOVA_API_DOMAIN: domainName, NOVA_API_CERTIFICATE_ARN: certificateArn }: NodeJS.ProcessEnv,
): DomainName | undefined {
  if (!domainName || !certificateArn) return undefined;
  const certificate = Certificate.fromCertificateArn(stack, "Certificate", certificateArn);
  const address = new DomainName(stack, "Address", { domainName, certificate, securityPolicy: SecurityPolicy.TLS_1_2 });
  stack.addOutputs({ Dns: `${domainName} CNAME ${address.regionalDomainName}` });
  return address;
}
