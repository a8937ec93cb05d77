import { runInNewContext } from "node:vm";
import { describe, expect, it } from "vitest";
import { routePage } from "../../../stacks/console/route-page.ts";

function route(uri: string, { method = "GET", accept = "text/html,*/*" } = {}) {
  const request = { method, uri, headers: accept === "" ? {} : { accept: { value: accept } } };
  const answer = runInNewContext(`${routePage}\nJSON.stringify(handler(${JSON.stringify({ request })}))`);
  return JSON.parse(answer as string);
}

describe("the router of CloudFront", () => {
  it.each(["/", "/console"])("redirects a browser from %s to the page", (uri) => {
    expect(route(uri)).toMatchObject({ statusCode: 302, headers: { location: { value: "/console/" } } });
  });

  it.each([
    ["a client of the API", { accept: "application/json" }],
    ["a client that says nothing", { accept: "" }],
    ["a POST", { method: "POST" }],
  ])("passes / of %s to the API", (_, how) => {
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
  ])("answers %s with the page", (uri) => expect(route(uri).uri).toBe("/console/index.html"));

  it.each(["/console/assets/index-D4.js", "/console/assets/index-D4.css", "/console/icon.svg", "/console/config.json"])(
    "answers %s with the file",
    (uri) => expect(route(uri).uri).toBe(uri),
  );

  it.each(["/executions/exec_1", "/consoles/", "/workflows/console/versions"])("passes %s to the API", (uri) => {
    expect(route(uri).uri).toBe(uri);
  });
});
