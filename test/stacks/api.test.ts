import type { Template } from "aws-cdk-lib/assertions";
import { beforeAll, describe, expect, it } from "vitest";
import { stacksOf } from "../support/stacks.ts";

let api: Template;
let personal: Template;

beforeAll(async () => {
  api = (await stacksOf("production")).templates.api;
  personal = (await stacksOf("ada")).templates.api;
});

const stage = () => {
  const [{ Properties } = { Properties: {} }] = Object.values(api.findResources("AWS::ApiGatewayV2::Stage"));
  return Properties;
};

describe("the HTTP API", () => {
  it("passes every method and path to one Lambda function", () => {
    api.resourceCountIs("AWS::ApiGatewayV2::Route", 1);
    api.hasResourceProperties("AWS::ApiGatewayV2::Route", { RouteKey: "$default" });
    api.hasResourceProperties("AWS::ApiGatewayV2::Integration", {
      IntegrationType: "AWS_PROXY",
      PayloadFormatVersion: "2.0",
    });
  });

  it("accepts two hundred requests at once, and limits all callers together to two hundred requests per second", () => {
    const { ThrottlingBurstLimit, ThrottlingRateLimit } = stage().DefaultRouteSettings;
    expect(ThrottlingBurstLimit).toBeGreaterThanOrEqual(200);
    expect(ThrottlingRateLimit).toBe(200);
  });

  it("is the only caller of its Lambda function", () => {
    const permissions = Object.values(api.findResources("AWS::Lambda::Permission")).map(({ Properties }) => Properties);
    expect(permissions.map(({ Principal }) => Principal)).toEqual(["apigateway.amazonaws.com"]);
    expect(permissions[0]).toHaveProperty("SourceArn");
  });
});

describe("the log of the HTTP API", () => {
  it("has one line of JSON for each request, kept for three months", () => {
    api.hasResource("AWS::Logs::LogGroup", {
      DeletionPolicy: "Retain",
      Properties: { LogGroupName: "/aws/vendedlogs/apis/nova", RetentionInDays: 90 },
    });
    expect(JSON.parse(stage().AccessLogSettings.Format)).toMatchObject({
      requestId: "$context.requestId",
      method: "$context.httpMethod",
      path: "$context.path",
      status: "$context.status",
    });
  });

  it.each(["header", "authorizer", "querystring", "body", "identity.user"])("does not contain the %s", (what) => {
    expect(stage().AccessLogSettings.Format.toLowerCase()).not.toContain(what);
  });
});

describe("the URL of the HTTP API", () => {
  const outputOf = (template: Template, name: string) => JSON.stringify(template.findOutputs(name));

  it("is only the configured domain if a domain and its certificate are configured", () => {
    api.hasResourceProperties("AWS::ApiGatewayV2::DomainName", {
      DomainName: "nova.example.com",
      DomainNameConfigurations: [{ SecurityPolicy: "TLS_1_2", EndpointType: "REGIONAL" }],
    });
    api.hasResourceProperties("AWS::ApiGatewayV2::Api", { DisableExecuteApiEndpoint: true });
    expect(outputOf(api, "Dns")).toContain("nova.example.com CNAME ");
  });

  it("is API Gateway's own URL if no domain is configured", () => {
    personal.resourceCountIs("AWS::ApiGatewayV2::DomainName", 0);
    expect(outputOf(personal, "Url")).toContain("ApiEndpoint");
  });
});
