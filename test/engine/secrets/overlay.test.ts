import { describe, expect, it, vi } from "vitest";
import { Context } from "../../../packages/engine/src/context/context.ts";
import { NovaError } from "../../../packages/engine/src/errors.ts";
import type { CodeResult } from "../../../packages/engine/src/ports/sandboxes.ts";
import { TokenEndpointLost, TokenRefused } from "../../../packages/engine/src/secrets/credential-kinds.ts";
import {
  changedOf,
  credentialOverlay,
  emptyOverlay,
  overlayAgain,
  overlayBefore,
  withOverlay,
  withoutOverlay,
} from "../../../packages/engine/src/secrets/overlay.ts";

const overlay = {
  members: [
    { key: "smtp_port", json: "587" },
    { key: "http_headers", json: '{"a":"x","b":"y"}' },
    { key: "email_password", json: '"pässwört"' },
  ],
  secrets: ["pässwört"],
  hosts: [],
};

const success = (set: Record<string, string>, deleted: string[] = []): CodeResult => ({
  status: "success",
  logs: "",
  durationMs: 1,
  delete: deleted,
  set: Object.entries(set).map(([key, json]) => ({ key, json })),
});

describe("the overlay, which adds a node's credentials to its context,", () => {
  it("replaces keys of the context with the same name, but does not change the context itself", () => {
    const input = new Context([{ key: "smtp_port", json: "25", by: 1 }]);
    expect(withOverlay(input, overlay).slot("smtp_port")?.json).toBe("587");
    expect(input.slot("smtp_port")?.json).toBe("25");
    expect(withOverlay(input, emptyOverlay)).toBe(input);
  });

  it.each([
    ["as it was written", { smtp_port: "587" }],
    ["as Python writes it", { email_password: '"p\\u00e4ssw\\u00f6rt"', http_headers: '{"b": "y", "a": "x"}' }],
  ])("is left out of the result of a node that sets a credential %s", (_how, set) => {
    const left = withoutOverlay(success({ ...set, total: "1" }), overlay);
    expect(left).toMatchObject({ set: [{ key: "total", json: "1" }] });
  });

  it("is left out of the deleted keys of a result, and changedOf returns the key of a changed credential", () => {
    const left = withoutOverlay(success({ total: "1", smtp_port: "25" }, ["email_password", "other"]), overlay);
    expect(left).toMatchObject({ delete: ["other"] });
    expect(changedOf(overlay, left.status === "success" ? left.set : [])).toBe("smtp_port");
    expect(changedOf(overlay, [{ key: "total" }])).toBeUndefined();
  });
});

describe("the overlay with the credentials of a node", () => {
  const forNode = vi.fn(async () => overlay);
  const credentials = { forNode, secretsOf: async () => ["pässwört"], forget: () => undefined };
  const whose = (own?: string[], common?: string[]) => ({
    client: "acme",
    version: { workflowId: "wf", workflow: { ...(common && { credentials: common }) } } as never,
    node: { ...(own && { credentials: own }) },
  });

  it.each([
    [undefined, undefined, undefined],
    [["email"], undefined, ["email"]],
    [["erp"], ["erp"], ["email"]],
  ])(
    "has the credentials %j if the node declares the credentials %j and its workflow declares the credentials %j",
    async (asked, own, common) => {
      forNode.mockClear();
      expect(await credentialOverlay({ credentials }, whose(own, common))).toBe(overlay);
      expect(forNode.mock.calls).toEqual([["acme", "wf", asked]]);
    },
  );

  it("is empty, and needs no read of the database, if the node declares no credentials", async () => {
    forNode.mockClear();
    expect(await credentialOverlay({ credentials }, whose([], ["email"]))).toBe(emptyOverlay);
    expect(forNode).not.toHaveBeenCalled();
  });

  it("has only the known secrets if a credential was removed, but throws if DynamoDB is down", async () => {
    forNode.mockClear();
    expect(await overlayBefore({ credentials }, whose())).toBe(overlay);
    expect(forNode.mock.calls).toEqual([["acme", "wf", undefined, { asStored: true }]]);
    forNode.mockRejectedValueOnce(new NovaError("NodeFailed", "removed"));
    expect(await overlayBefore({ credentials }, whose())).toEqual({ ...emptyOverlay, secrets: ["pässwört"] });
    forNode.mockRejectedValueOnce(new Error("DynamoDB is down"));
    await expect(overlayBefore({ credentials }, whose())).rejects.toThrow("DynamoDB is down");
  });

  it.each([
    ["a token endpoint that does not answer", new TokenEndpointLost("away"), "SandboxUnavailable"],
    ["a token endpoint that refuses", new TokenRefused("no"), "NodeFailed"],
  ])("causes for %s in a late delivery the error %s", async (_what, cause, name) => {
    const failure = new NovaError("NodeFailed", "no token", { cause });
    forNode.mockRejectedValue(failure);
    await expect(overlayAgain({ credentials }, whose())).rejects.toMatchObject({ name, message: "no token" });
    await expect(credentialOverlay({ credentials }, whose())).rejects.toBe(failure);
    forNode.mockReset().mockResolvedValue(overlay);
  });
});
