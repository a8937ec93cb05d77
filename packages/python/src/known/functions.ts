import { standardModules, words } from "./packages.ts";

/** Functions of `builtins` whose answer has no part of what they are given. */
const freshBuiltins = words(
  "abs all any ascii bin bool bytearray bytes callable chr complex delattr dir divmod float format frozenset hasattr hash " +
    "help hex id input int isinstance issubclass len memoryview oct open ord pow print range repr round slice str sum type " +
    "super object property staticmethod classmethod exit quit breakpoint compile",
);

/** Their answer is a new container (or an iterator) of the same parts. */
const copyingBuiltins = words("list tuple set dict sorted reversed enumerate zip iter filter map");

/** Their answer is one of the parts. */
const pickingBuiltins = words("next max min getattr vars");

/** Functions that change what they are given. */
const changing =
  /^(builtins\.(setattr|delattr|dict|list|set)\..+|builtins\.setattr|operator\.(setitem|delitem|i\w+)|heapq\..+|bisect\.insort.*|random\.shuffle|numpy\.random\.shuffle)$/;

/** Modules that run functions they are given, or answer (parts of) what they are given. */
const passing = words(
  "functools itertools contextlib types typing typing_extensions collections concurrent threading asyncio multiprocessing " +
    "queue sched weakref dataclasses operator heapq bisect unittest inspect importlib runpy code gc ctypes pickle contextvars",
);

/** What comes with the packages of every sandbox; they leave their arguments alone. */
const harmless = words(
  "fitz pymupdf pandas numpy requests PIL psycopg dateutil pytz urllib3 certifi openpyxl xlrd bs4 lxml yaml docx " +
    "matplotlib scipy sklearn httpx aiohttp jinja2 markdown chardet psycopg2 boto3 redis pydantic",
);

/** How the answer of a function depends on its arguments. */
export type Passes = "nothing" | "parts in something new" | "a part" | "unknown";

export function passes(path: string | undefined): Passes {
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

/** Whether a function leaves its arguments as they are (functions among them aside). */
export function leavesArguments(path: string | undefined): boolean {
  if (path === undefined || changing.test(path)) return false;
  const [module = ""] = path.split(".");
  if (module === "builtins") return passes(path) !== "unknown";
  if (path === "collections.ChainMap" || path === "types.MappingProxyType") return false;
  return isHarmless(path);
}

function isHarmless(path: string | undefined): boolean {
  const [module = ""] = path?.split(".") ?? [];
  return harmless.has(module) || (standardModules.has(module) && !/^(code|runpy|ctypes|gc|__main__)$/.test(module));
}

/** Methods of Python's own values that change nothing, and whose answer is a new value. */
export const pureMethods = words(
  "capitalize casefold center count decode encode endswith expandtabs find format format_map hex index isalnum isalpha " +
    "isascii isdecimal isdigit isidentifier islower isnumeric isprintable isspace istitle isupper join ljust lower lstrip " +
    "maketrans partition removeprefix removesuffix replace rfind rindex rjust rpartition rsplit rstrip split splitlines " +
    "startswith strip swapcase title translate upper zfill as_integer_ratio bit_length bit_count conjugate is_integer " +
    "to_bytes keys isdisjoint issubset issuperset union intersection difference symmetric_difference fromhex " +
    "__len__ __contains__ __str__ __repr__ __eq__",
);

/** Methods of dicts and lists whose answer is (part of) what they are called on. */
export const partMethods = words("get pop setdefault popitem __getitem__ __iter__");

/** Methods whose answer is a new container of the same parts. */
export const copyMethods = words("copy values items __copy__ fromkeys");

/** Methods that change the dict or list they are called on. */
export const changingMethods = words(
  "append extend insert remove pop popitem clear update setdefault sort reverse add discard __setitem__ __delitem__ " +
    "__ior__ __iadd__",
);

/** What a dict has behind a dot. */
export const dictMethods = words("clear copy fromkeys get items keys pop popitem setdefault update values move_to_end");
