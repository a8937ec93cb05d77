import type { AuditRecord } from "@nova/client";
import { describe, expect, it } from "vitest";
import {
  findSubjectPath,
  formatAction,
  formatDetail,
  matchesFilters,
  setupActor,
} from "../../../packages/console/src/pages/records.ts";

const record: AuditRecord = {
  id: "01M8AFFZVREVP6BAHHC817SF1Q",
  at: "2026-11-25T23:08:46.840Z",
  action: "code.approved",
  by: "key_1",
  client_slug: null,
  subject: "bills",
  detail: { node: "Sum", code_hash: "ab".repeat(32) },
};

describe("a record of the audit log", () => {
  it.each([
    [{}, true],
    [{ action: "code.approved", by: "key_1" }, true],
    [{ action: "code.rejected" }, false],
    [{ by: "key_2" }, false],
    [{ text: "BILL" }, true],
    [{ text: "sum" }, true],
    [{ text: "hello" }, false],
  ])("matches or does not match the filters %j: %s", (filters, is) => {
    expect(matchesFilters(record, filters)).toBe(is);
  });

  it("is attributed to the setup of NOVA if no API key caused the record", () => {
    expect(matchesFilters({ ...record, by: null }, { by: setupActor })).toBe(true);
    expect(matchesFilters(record, { by: setupActor })).toBe(false);
  });

  it("links to its workflow, client or key if the console has a page for this object", () => {
    expect(findSubjectPath(record)).toBe("/code?workflow=bills");
    expect(findSubjectPath({ ...record, action: "execution.cancelled", subject: "exec_1" })).toBe("/runs/exec_1");
    expect(findSubjectPath({ ...record, action: "client.deleted", subject: "acme" })).toBeUndefined();
  });

  it("is shown with shortened hashes and all other details in full", () => {
    expect(formatDetail(record.detail)).toBe("node Sum, code_hash abababab…");
    expect(formatDetail({ version: 2 })).toBe("version 2");
  });
});

it.each([
  ["key.created", "Key created"],
  ["execution.cancelled", "Run cancelled"],
  ["signing_key.rotated", "Signing key rotated"],
  ["credentials.rotated", "Credentials re-encrypted"],
])("the console names the action %s %s", (action, label) => {
  expect(formatAction(action)).toBe(label);
});
