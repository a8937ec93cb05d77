import { listImportableModules } from "@nova/python";
import { templatePackages } from "@nova/workflow";
import { describe, expect, it } from "vitest";
import {
  leavesArguments,
  methodTypes,
  resultDependence,
  resultTypeOf,
  typeOfValue,
  unfitTypes,
} from "../../../packages/python/src/known/functions.ts";
import { template } from "../support/corpus.ts";

describe("resultDependence", () => {
  it.each([
    ["builtins.len", "nothing"],
    ["builtins.ValueError", "nothing"],
    ["copy.deepcopy", "nothing"],
    ["json.dumps", "nothing"],
    ["pandas.DataFrame", "nothing"],
    ["builtins.sorted", "parts in something new"],
    ["collections.Counter", "parts in something new"],
    ["copy.copy", "parts in something new"],
    ["builtins.max", "a part"],
    ["functools.reduce", "a part"],
    ["builtins.exec", "unknown"],
    ["somebody.elses", "unknown"],
    [undefined, "unknown"],
  ])("says which part of its arguments the Python function %s may return: %s", (path, how) => {
    expect(resultDependence(path)).toBe(how);
  });
});

it.each([
  ["builtins.print", true],
  ["json.dumps", true],
  ["psycopg.connect", true],
  ["builtins.setattr", false],
  ["builtins.dict.update", false],
  ["operator.setitem", false],
  ["heapq.heappush", false],
  ["bisect.insort", false],
  ["random.shuffle", false],
  ["collections.ChainMap", false],
  ["types.MappingProxyType", false],
  ["ctypes.memmove", false],
  ["somebody.elses", false],
  [undefined, false],
])("leavesArguments for the function %s returns %s", (path, isHarmless) => {
  expect(leavesArguments(path)).toBe(isHarmless);
});

it.each([
  ["requests>=2", "requests"],
  ["Pillow", "PIL"],
  ["psycopg[binary]==3.2", "psycopg"],
  ["pymupdf", "fitz"],
  ["pandas", "numpy"],
  ["beautifulsoup4 ; python_version > '3'", "bs4"],
  ["PyYAML", "yaml"],
  ["my-client~=1.0", "my_client"],
  ["python-nova", "nova"],
])("the Python package %s provides the module %s", (line, module) => {
  expect(listImportableModules([line])).toContain(module);
});

it("a line of requirements without a package provides no modules", () => {
  expect(listImportableModules(["", "# comment", "--index-url x"])).toEqual(listImportableModules([]));
});

it("the test corpus has the same Python packages as the sandbox template", () => {
  expect(template).toEqual(templatePackages);
});

describe("resultTypeOf", () => {
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
  ])("finds that the Python function %s returns the type %s", (path, type) => {
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
  ])("returns no type for the Python function %s", (path) => {
    expect(resultTypeOf(path)).toBeUndefined();
  });
});

it.each([
  ["os.environ", "environ"],
  ["math.inf", "nan"],
  ["math.pi", undefined],
  ["constructor", undefined],
])("typeOfValue finds that the value %s has the type %s", (path, type) => {
  expect(typeOfValue(path)).toBe(type);
});

it("every Python type that the context cannot store has a name, and advice on what to store instead", () => {
  for (const [what, cure] of Object.values(unfitTypes)) {
    expect(what).toMatch(/\w/);
    expect(cure).toMatch(/^(use|store|call|save|set|aggregate) /);
  }
});

it("every known Python method returns a dict, or a type that JSON cannot store and for which there is advice", () => {
  const types = Object.values(methodTypes).flatMap((methods) => Object.values(methods));
  expect(types.filter((type) => type !== "dict" && !Object.hasOwn(unfitTypes, type))).toEqual([]);
});
