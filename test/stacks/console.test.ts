import { runInNewContext } from "node:vm";
import type { Template } from "aws-cdk-lib/assertions";
import { beforeAll, describe, expect, it } from "vitest";
import { routePage } from "../../stacks/console.ts";
import { stacksOf } from "../support/stacks.ts";

let production: Template;
let personal: Template;

beforeAll(async () => {
  const [one, other] = await Promise.all([stacksOf("production"), stacksOf("ada")]);
  production = one.templates.console;
  personal = other.templates.console;
});

function only(template: Template, type: string) {
  const [found, ...others] = Object.values(template.findResources(type));
  expect(others).toEqual([]);
  return found?.Properties;
}

const distribution = (template: Template) => only(template, "AWS::CloudFront::Distribution").DistributionConfig;

describe("the deployed console", () => {
  it("is a page from a bucket that only CloudFront may read", () => {
    const { Statement } = only(production, "AWS::S3::BucketPolicy").PolicyDocument;
    const allowed = Statement.filter(({ Effect }: { Effect: string }) => Effect === "Allow");
    expect(allowed).toMatchObject([
      { Action: "s3:GetObject", Principal: { Service: "cloudfront.amazonaws.com" }, Condition: expect.anything() },
    ]);
    expect(only(production, "AWS::S3::Bucket").PublicAccessBlockConfiguration.BlockPublicPolicy).toBe(true);
  });

  it("serves the whole API at the address of its page", () => {
    const { DefaultCacheBehavior: api, CacheBehaviors: pages } = distribution(production);
    expect(api.AllowedMethods).toContain("POST");
    expect(api).toMatchObject({
      CachePolicyId: "4135ea2d-6df8-44a3-9df3-4b5a84be39ad",
      ViewerProtocolPolicy: "https-only",
    });
    expect(pages.map(({ PathPattern }: { PathPattern: string }) => PathPattern)).toEqual(["/console", "/console/*"]);
    expect(JSON.stringify(distribution(production).Origins)).toContain("nova-api:ExportsOutputRefAddress");
    expect(JSON.stringify(distribution(personal).Origins)).toContain("execute-api");
  });

  it("runs only its own scripts, and cannot be shown in a frame", () => {
    const headers = only(production, "AWS::CloudFront::ResponseHeadersPolicy").ResponseHeadersPolicyConfig;
    const { ContentSecurityPolicy, FrameOptions, StrictTransportSecurity } = headers.SecurityHeadersConfig;
    const policy = JSON.stringify(ContentSecurityPolicy);
    expect(policy).toContain("script-src 'self';");
    expect(policy).not.toMatch(/unsafe|data:|\*/);
    expect([FrameOptions.FrameOption, StrictTransportSecurity.AccessControlMaxAgeSec]).toEqual(["DENY", 31_536_000]);
    for (const { ResponseHeadersPolicyId: id } of distribution(production).CacheBehaviors) expect(id).toBeDefined();
  });

  it("has a separate domain if a domain and a certificate are configured", () => {
    expect(distribution(production).Aliases).toEqual(["console.example.com"]);
    expect(distribution(personal).Aliases).toBeUndefined();
    expect(JSON.stringify(production.findOutputs("Url"))).toContain("https://console.example.com/console/");
    expect(JSON.stringify(production.findOutputs("Dns"))).toContain("console.example.com CNAME ");
  });
});

function route(uri: string, { method = "GET", accept = "text/html,*/*" } = {}) {
  const request = { method, uri, headers: accept === "" ? {} : { accept: { value: accept } } };
  const answer = runInNewContext(`${routePage}\nJSON.stringify(handler(${JSON.stringify({ request })}))`);
  return JSON.parse(answer as string);
}

describe("the router of the deployed console", () => {
  it.each(["/", "/console"])("redirects a browser from %s to the page of the console", (uri) => {
    expect(route(uri)).toMatchObject({ statusCode: 302, headers: { location: { value: "/console/" } } });
  });

  it.each([
    ["a client of the API", { accept: "application/json" }],
    ["a client with an empty Accept header", { accept: "" }],
    ["a POST", { method: "POST" }],
  ])("passes a request for / from %s to the API", (_, how) => {
    expect(route("/", how).uri).toBe("/");
  });

  it.each([
    "/console/",
    "/console/runs",
    "/console/runs/exec_1",
    "/console/../keys",
    "/console/a/b.js",
    "/console/x.map",
    "/console/assets/config.json",
  ])("answers %s with the page of the console", (uri) => expect(route(uri).uri).toBe("/console/index.html"));

  it.each([
    "/console/assets/index-D4.js",
    "/console/assets/index-D4.css",
    "/console/assets/inter-D4.woff2",
    "/console/icon.svg",
    "/console/config.json",
    "/console/verify.html",
  ])("answers %s with the file of this name", (uri) => expect(route(uri).uri).toBe(uri));

  it.each(["/executions/exec_1", "/consoles/", "/workflows/console/versions"])("passes %s to the API", (uri) => {
    expect(route(uri).uri).toBe(uri);
  });
});
