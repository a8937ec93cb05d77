import { contextAccess } from "@nova/python";
import { expect, it } from "vitest";

it("lists the keys that code reads, sets and deletes", async () => {
  const source = `
mail = context["mail"]
context["to"] = mail["from"]["address"]
if "vat" in context:
    context["gross"] = context.get("net", 0) + context["vat"]
for line in context["lines"]:
    line["sum"] = line["price"]
del context["raw"]
context.pop("tmp", None)
`;
  expect(await contextAccess(source)).toEqual({
    reads: [
      { path: "mail", optional: false },
      { path: "mail.from.address", optional: false },
      { path: "mail.from", optional: false },
      { path: "vat", optional: false },
      { path: "net", optional: true },
      { path: "lines", optional: false },
      { path: "raw", optional: false },
      { path: "tmp", optional: true },
    ],
    sets: ["to", "gross", "lines"],
    deletes: ["raw", "tmp"],
  });
});

it("leaves out keys that are computed, and code that cannot be read", async () => {
  const nothing = { reads: [], sets: [], deletes: [] };
  expect(await contextAccess("context[key] = context[other]")).toEqual(nothing);
  expect(await contextAccess("context['a' = 1")).toEqual(nothing);
});
