import { request } from "node:http";
import { text } from "node:stream/consumers";
import { openApi } from "@nova/local";
import { describe, expect, it } from "vitest";
import { openTestCloud } from "../../support/cloud.ts";

/** The status and the body of a GET with the host name `host`. */
function ask(url: string, host: string): Promise<[status: number | undefined, body: string]> {
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(url);
    const sent = request({ hostname, port, headers: { host }, setHost: false }, async (response) => {
      resolve([response.statusCode, await text(response)]);
    });
    sent.on("error", reject).end();
  });
}

describe("a local API", () => {
  it("refuses a foreign host name at every address that it opens", async () => {
    const cloud = await openTestCloud();
    const api = await openApi(cloud, { port: 0 });
    const urls = Object.values(cloud.environment).filter((value) => value.startsWith("http://127.0.0.1:"));
    const asked = [...new Set([...urls, api.url])].map((url) => ask(url, "evil.example"));
    const statuses = await Promise.all(asked).finally(async () => {
      await api.close();
      await cloud.close();
    });
    expect(statuses.length).toBeGreaterThanOrEqual(8);
    expect(new Set(statuses.map(([status]) => status))).toEqual(new Set([421]));
  });

  it("says in one sentence how its host names are allowed", async () => {
    const cloud = await openTestCloud();
    const api = await openApi(cloud, { port: 0 });
    const [, body] = await ask(api.url, "evil.example");
    await api.close();
    await cloud.close();
    expect(JSON.parse(body).message).toMatch(/^this server answers .*"evil.example" - .*nova dev with --host/);
  });

  it("reports a port that another server has", async () => {
    const cloud = await openTestCloud();
    const first = await openApi(cloud, { port: 0 });
    const port = Number(new URL(first.url).port);
    const message = `port ${port} is taken - end what listens there, or choose another one with --port`;
    await expect(openApi(cloud, { port })).rejects.toMatchObject({ name: "LocalCloudError", message });
    await first.close();
    await cloud.close();
  });
});
