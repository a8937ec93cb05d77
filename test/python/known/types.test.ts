import { describe, expect, it } from "vitest";
import { methodTypes, resultTypeOf, typeOfValue, unfitTypes } from "../../../packages/python/src/known/types.ts";

describe("madeBy", () => {
  it.each([
    ["datetime.datetime", "datetime"],
    ["datetime.datetime.now", "datetime"],
    ["email.utils.parsedate_to_datetime", "datetime"],
    ["datetime.date.today", "date"],
    ["decimal.Decimal", "Decimal"],
    ["uuid.uuid4", "UUID"],
    ["pathlib.Path", "Path"],
    ["builtins.frozenset", "set"],
    ["builtins.map", "iterator"],
    ["itertools.chain.from_iterable", "iterator"],
    ["builtins.ValueError", "exception"],
    ["builtins.KeyboardInterrupt", "exception"],
    ["io.BytesIO", "buffer"],
    ["collections.defaultdict", "dict"],
    ["email.mime.text.MIMEText", "Message"],
    ["requests.get", "Response"],
    ["pandas.read_csv", "DataFrame"],
    ["numpy.array", "ndarray"],
    ["PIL.Image.open", "Image"],
    ["fitz.open", "Document"],
    ["zoneinfo.ZoneInfo", "object"],
    ["base64.b64encode", "bytes"],
  ])("finds that %s returns a %s", (path, type) => {
    expect(resultTypeOf(path)).toBe(type);
  });

  it.each([
    "datetime.datetime.now.isoformat",
    "builtins.str",
    "builtins.print",
    "builtins.NotImplemented",
    "time.time",
    "uuid.uuid4.hex",
    "requests.get.json",
  ])("knows no type for %s", (path) => {
    expect(resultTypeOf(path)).toBeUndefined();
  });
});

it.each([
  ["os.environ", "environ"],
  ["math.inf", "nan"],
  ["math.pi", undefined],
  ["constructor", undefined],
])("the value %s has the type %s", (path, type) => {
  expect(typeOfValue(path)).toBe(type);
});

it("every unfit type has a name and a fix", () => {
  for (const [what, cure] of Object.values(unfitTypes)) {
    expect(what).toMatch(/\w/);
    expect(cure).toMatch(/^(use|store|call|save|set|aggregate) /);
  }
});

it("every method returns a type with a fix, or a dict", () => {
  const types = Object.values(methodTypes).flatMap((methods) => Object.values(methods));
  expect(types.filter((type) => type !== "dict" && !Object.hasOwn(unfitTypes, type))).toEqual([]);
});
