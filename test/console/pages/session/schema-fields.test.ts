import { readFile } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { listSchemaFields, placeFindings } from "../../../../packages/console/src/pages/session/schema-fields.ts";
import { triggerTypes } from "../../../../packages/workflow/src/authored/triggers.ts";

const schema = await readFile(new URL("../../../../packages/workflow/workflow.schema.json", import.meta.url), "utf8");

describe("the form of a trigger", () => {
  it.each(triggerTypes)("has the fields of the kind %s, without Markdown", (type) => {
    const fields = listSchemaFields(schema, `${type}_trigger`);
    expect(fields.map(({ key }) => key)).toEqual(expect.arrayContaining(["id", "type", "client"]));
    expect(fields.map(({ description }) => description).join()).not.toMatch(/[`[]|\]\(/);
  });

  it("shows each error at its field, and returns all other findings separately", () => {
    const fields = listSchemaFields(schema, "webhook_trigger");
    const at = (key: string) => fields.findIndex((field) => field.key === key);
    const found = (path: string, severity: "error" | "warning" = "error") => {
      return { path: `$.triggers[1]${path}`, severity, message: path };
    };
    const { problems, others } = placeFindings(
      fields,
      [found(".id"), found(".signature.secret"), found(".dedupe", "warning"), found(""), found("1].id")],
      "$.triggers[1]",
    );
    const signature = fields[at("signature")]?.shape;
    const secret = signature?.kind === "object" ? signature.fields.findIndex(({ key }) => key === "secret") : -1;
    expect([...problems]).toEqual([
      [`.${at("id")}`, ".id"],
      [`.${at("signature")}.${secret}`, ".signature.secret"],
    ]);
    expect(others.map(({ message }) => message)).toEqual([".dedupe", ""]);
  });
});

describe("the form of the settings", () => {
  it("has fields for the receivers of failures", () => {
    const receivers = listSchemaFields(schema).find(({ key }) => key === "on_failure");
    expect(receivers?.shape).toMatchObject({ kind: "object", fields: [{ key: "mail" }, { key: "webhook" }] });
  });
});
