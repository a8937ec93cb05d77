import { createClient } from "@nova/client";
import { answerMcp } from "@nova/mcp";
import { expect, it } from "vitest";

const caller = { nova: createClient({ url: "http://nowhere.invalid", apiKey: "none" }), maxWaitSeconds: 1 };
const doors = { hosts: ["nova.example.com"], origins: ["nova.example.com", "console.example.com"] };

it.each([
  ["the host of the API", { host: "nova.example.com" }, 200],
  ["the host of the API with a port", { host: "nova.example.com:443" }, 200],
  ["another host, as after DNS rebinding", { host: "evil.example.com" }, 421],
  ["no host", {}, 421],
  ["a page of the API's host", { host: "nova.example.com", origin: "https://nova.example.com" }, 200],
  ["a page that NOVA_CORS_ORIGINS names", { host: "nova.example.com", origin: "https://console.example.com" }, 200],
  ["another page", { host: "nova.example.com", origin: "https://nova.example.com.evil.com" }, 403],
  ["a page without an address", { host: "nova.example.com", origin: "null" }, 403],
])(
  "a request of the Model Context Protocol that names %s (headers %j) is answered with status %i",
  async (_, headers, status) => {
    const all = { "content-type": "application/json", accept: "application/json, text/event-stream", ...headers };
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ping" });
    const answer = await answerMcp(new Request("http://x/mcp", { method: "POST", headers: all, body }), caller, doors);
    expect(answer.status).toBe(status);
  },
);
