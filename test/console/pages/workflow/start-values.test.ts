import { describe, expect, it } from "vitest";
import {
  checkExtras,
  createExtra,
  createExtraFields,
  placeFiles,
} from "../../../../packages/console/src/pages/workflow/start-values.ts";
import {
  createDrafts,
  listFiles,
  parseFields,
  renderMembers,
} from "../../../../packages/console/src/parts/form/form.ts";

const file = (name: string) => new File(["x"], name);
const text = (value: string) => ({ kind: "any", mode: "text", text: value, file: undefined }) as const;

describe("additional values in the form that starts a run", () => {
  it("are sent under their keys, and empty rows are omitted", () => {
    const extras = [createExtra("a", text("x")), createExtra(), createExtra("empty", text(""))];
    const drafts = extras.map(({ draft }) => draft);
    expect(renderMembers(createExtraFields(extras), drafts)).toEqual(['"a":"x"', '"empty":""']);
  });

  it("need keys that differ from each other and from the inputs of the workflow", () => {
    const fields = parseFields('{"properties":{"order":{"type":"string"}}}');
    const extras = [
      createExtra("", text("x")),
      createExtra("order", text("x")),
      createExtra("b"),
      createExtra("b", text("x")),
    ];
    const problems = checkExtras(extras, fields);
    expect(extras.map(({ id }) => problems.get(`${id}.key`))).toEqual([
      "This value is required.",
      "Another value has this key.",
      undefined,
      "Another value has this key.",
    ]);
  });

  it("are refused in the JSON mode if they are not valid JSON", () => {
    const wrong = createExtra("a", { kind: "any", mode: "json", text: "{", file: undefined });
    expect(checkExtras([wrong], []).get(`${wrong.id}.value`)).toBe("This is not valid JSON. Put texts in quotes.");
  });
});

describe("files that a user drops on the form that starts a run", () => {
  it("fill empty fields that accept files, and then new rows", () => {
    const fields = parseFields('{"properties":{"order":{"type":"string"},"scan":{}}}');
    const placed = placeFiles({ drafts: createDrafts(fields), extras: [], allowsMore: true }, [
      file("scan.pdf"),
      file("Invoice 7.PDF"),
    ]);
    expect(placed.drafts.map((draft) => listFiles(draft).map(({ name }) => name))).toEqual([[], ["scan.pdf"]]);
    expect(placed.extras).toMatchObject([
      { key: "invoice_7", draft: { mode: "file", file: { name: "Invoice 7.PDF" } } },
    ]);
  });

  it("replace no value that is already filled in", () => {
    const placed = placeFiles({ drafts: [], extras: [createExtra("a", text("x")), createExtra()], allowsMore: true }, [
      file("b.txt"),
    ]);
    expect(placed.extras).toMatchObject([{ key: "a", draft: { text: "x", file: undefined } }, { key: "b" }]);
    expect(placed.extras).toHaveLength(2);
  });

  it("get no new row if the workflow allows no additional keys", () => {
    expect(placeFiles({ drafts: [], extras: [], allowsMore: false }, [file("a")]).extras).toEqual([]);
  });
});
