import { describe, expect, it } from "vitest";
import { answers, madeBy, typeOfValue, unfitTypes } from "../../../packages/python/src/known/types.ts";

describe("what functions and classes make", () => {
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
  ])("%s makes a %s", (path, type) => {
    expect(madeBy(path)).toBe(type);
  });

  it.each([
    "datetime.datetime.now.isoformat",
    "builtins.str",
    "builtins.print",
    "builtins.NotImplemented",
    "time.time",
    "uuid.uuid4.hex",
    "requests.get.json",
  ])("nothing is known of %s", (path) => {
    expect(madeBy(path)).toBeUndefined();
  });
});

it.each([
  ["os.environ", "environ"],
  ["math.inf", "nan"],
  ["math.pi", undefined],
  ["constructor", undefined],
])("the value %s is %s", (path, type) => {
  expect(typeOfValue(path)).toBe(type);
});

it("names a cure for whatever it calls unfit", () => {
  for (const [what, cure] of Object.values(unfitTypes)) {
    expect(what).toMatch(/\w/);
    expect(cure).toMatch(/^(use|store|call|save|set|aggregate) /);
  }
});

it("answers only with types that have a cure, or with a dict", () => {
  const types = Object.values(answers).flatMap((methods) => Object.values(methods));
  expect(types.filter((type) => type !== "dict" && !Object.hasOwn(unfitTypes, type))).toEqual([]);
});
