import { standardModules, wordSet } from "./packages.ts";

/** Builtins whose result contains no part of their arguments. */
const freshBuiltins = wordSet(
  "abs all any ascii bin bool bytearray bytes callable chr complex delattr dir divmod float format frozenset hasattr hash " +
    "help hex id input int isinstance issubclass len memoryview oct open ord pow print range repr round slice str sum type " +
    "super object property staticmethod classmethod exit quit breakpoint compile",
);

/** Builtins that return a new container or iterator with the same parts. */
const copyingBuiltins = wordSet("list tuple set dict sorted reversed enumerate zip iter filter map");

/** Builtins that return one of the parts. */
const pickingBuiltins = wordSet("next max min getattr vars");

/** Functions that change their arguments. */
const changing =
  /^(builtins\.(setattr|delattr|dict|list|set)\..+|builtins\.setattr|operator\.(setitem|delitem|i\w+)|heapq\..+|bisect\.insort.*|random\.shuffle|numpy\.random\.shuffle)$/;

/** Modules whose functions call functions that they get, or return (parts of) their arguments. */
const passing = wordSet(
  "functools itertools contextlib types typing typing_extensions collections concurrent threading asyncio multiprocessing " +
    "queue sched weakref dataclasses operator heapq bisect unittest inspect importlib runpy code gc ctypes pickle contextvars",
);

/** Packages of every sandbox, and other common ones, that do not change their arguments. */
const harmless = wordSet(
  "fitz pymupdf pandas numpy requests PIL psycopg dateutil pytz urllib3 certifi openpyxl xlrd bs4 lxml yaml docx " +
    "matplotlib scipy sklearn httpx aiohttp jinja2 markdown chardet psycopg2 boto3 redis pydantic",
);

/** How the result of a function depends on its arguments. */
export type ResultDependence = "nothing" | "parts in something new" | "a part" | "unknown";

export function resultDependence(path: string | undefined): ResultDependence {
  const [module = "", name = ""] = path?.split(".") ?? [];
  if (module === "builtins") {
    if (freshBuiltins.has(name) || /^[A-Z]\w+(Error|Exception|Warning|Exit|Interrupt|Iteration|Group)$/.test(name)) {
      return "nothing";
    }
    if (copyingBuiltins.has(name)) return "parts in something new";
    return pickingBuiltins.has(name) ? "a part" : "unknown";
  }
  if (path === "copy.deepcopy") return "nothing";
  if (module === "copy") return "parts in something new";
  if (path === "collections.Counter" || path === "collections.OrderedDict" || path === "collections.deque") {
    return "parts in something new";
  }
  if (passing.has(module)) return "a part";
  return isHarmless(path) ? "nothing" : "unknown";
}

/** Whether a function does not change its arguments. It may still call functions among them. */
export function leavesArguments(path: string | undefined): boolean {
  if (path === undefined || changing.test(path)) return false;
  const [module = ""] = path.split(".");
  if (module === "builtins") return resultDependence(path) !== "unknown";
  if (path === "collections.ChainMap" || path === "types.MappingProxyType") return false;
  return isHarmless(path);
}

function isHarmless(path: string | undefined): boolean {
  const [module = ""] = path?.split(".") ?? [];
  return harmless.has(module) || (standardModules.has(module) && !/^(code|runpy|ctypes|gc|__main__)$/.test(module));
}

/** Methods of builtin types that change nothing and return a new value. */
export const pureMethods = wordSet(
  "capitalize casefold center count decode encode endswith expandtabs find format format_map hex index isalnum isalpha " +
    "isascii isdecimal isdigit isidentifier islower isnumeric isprintable isspace istitle isupper join ljust lower lstrip " +
    "maketrans partition removeprefix removesuffix replace rfind rindex rjust rpartition rsplit rstrip split splitlines " +
    "startswith strip swapcase title translate upper zfill as_integer_ratio bit_length bit_count conjugate is_integer " +
    "to_bytes keys isdisjoint issubset issuperset union intersection difference symmetric_difference fromhex " +
    "__len__ __contains__ __str__ __repr__ __eq__",
);

/** Methods of dicts and lists that return (part of) their object. */
export const partMethods = wordSet("get pop setdefault popitem __getitem__ __iter__");

/** Methods that return a new container of the same parts. */
export const copyMethods = wordSet("copy values items __copy__ fromkeys");

/** Methods that change their dict or list. */
export const changingMethods = wordSet(
  "append extend insert remove pop popitem clear update setdefault sort reverse add discard __setitem__ __delitem__ " +
    "__ior__ __iadd__",
);

/** All methods of a dict. */
export const dictMethods = wordSet(
  "clear copy fromkeys get items keys pop popitem setdefault update values move_to_end",
);
