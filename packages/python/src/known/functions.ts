import { standardModules, wordSet } from "./packages.ts";

/** Builtins whose result contains no part of their arguments. */
const freshBuiltins = wordSet(
  "abs all any ascii bin bool bytearray bytes callable chr complex delattr dir divmod float format frozenset hasattr hash " +
    "help hex id input int isinstance issubclass len memoryview oct open ord pow print range repr round slice str sum type " +
    "super object property staticmethod classmethod exit quit breakpoint compile",
);

/** Builtins that return a new container or iterator, which holds parts of their arguments. */
const copyingBuiltins = wordSet("list tuple set dict sorted reversed enumerate zip iter filter map");

/** Builtins that may return one part of their argument. */
const pickingBuiltins = wordSet("next max min getattr vars");

const changing =
  /^(builtins\.(setattr|delattr|dict|list|set)\..+|builtins\.setattr|operator\.(setitem|delitem|i\w+)|heapq\..+|bisect\.insort.*|random\.shuffle|numpy\.random\.shuffle)$/;

/** Modules whose functions call the functions that are passed to them, or return their arguments, whole or in part. */
const passing = wordSet(
  "functools itertools contextlib types typing typing_extensions collections concurrent threading asyncio multiprocessing " +
    "queue sched weakref dataclasses operator heapq bisect unittest inspect importlib runpy code gc ctypes pickle contextvars",
);

/** Packages whose functions do not change their arguments: the packages of every sandbox, and other common packages. */
const harmless = wordSet(
  "fitz pymupdf pandas numpy requests PIL psycopg dateutil pytz urllib3 certifi openpyxl xlrd bs4 lxml yaml docx " +
    "matplotlib scipy sklearn httpx aiohttp jinja2 markdown chardet psycopg2 boto3 redis pydantic",
);

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

/**
 * Returns whether a function does not change its arguments. The function may still call an argument that is a function.
 */
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

export const partMethods = wordSet("get pop setdefault popitem __getitem__ __iter__");

export const copyMethods = wordSet("copy values items __copy__ fromkeys");

export const changingMethods = wordSet(
  "append extend insert remove pop popitem clear update setdefault sort reverse add discard __setitem__ __delitem__ " +
    "__ior__ __iadd__",
);

export const dictMethods = wordSet(
  "clear copy fromkeys get items keys pop popitem setdefault update values move_to_end",
);

/** Types that JSON cannot store, each with its name in messages and what to store instead. */
export const unfitTypes = {
  datetime: ["a datetime", "use x.isoformat()"],
  date: ["a date", "use x.isoformat()"],
  time: ["a time", "use x.isoformat()"],
  Timestamp: ["a pandas Timestamp", "use x.isoformat()"],
  timedelta: ["a timedelta", "use x.total_seconds()"],
  Decimal: ["a Decimal", "use str(x) to keep every digit, or float(x)"],
  Fraction: ["a Fraction", "use str(x) or float(x)"],
  complex: ["a complex number", "use [x.real, x.imag]"],
  nan: ["not a number of JSON", "store None or a text instead"],
  set: ["a set", "use sorted(x) or list(x)"],
  UUID: ["a UUID", "use str(x)"],
  Path: ["a path object", "use str(x)"],
  exception: ["an exception", "use str(x)"],
  file: ["an open file", "store what x.read() returns"],
  buffer: ["a buffer in memory", "store what x.getvalue() returns"],
  function: ["a function", "call it and store what it returns"],
  class: ["a class", "store a value of it"],
  module: ["a module", "store a value of it"],
  range: ["a range", "use list(x)"],
  iterator: ["an iterator", "use list(x)"],
  generator: ["a generator", "use list(x)"],
  view: ["a view of a dict", "use list(x)"],
  deque: ["a deque", "use list(x)"],
  environ: ["os.environ", "use dict(x)"],
  DataFrame: ["a DataFrame", 'use x.to_dict("records")'],
  GroupBy: ["a grouped DataFrame", "aggregate it and use .to_dict()"],
  Series: ["a pandas Series", "use x.tolist()"],
  ndarray: ["a numpy array", "use x.tolist()"],
  "numpy number": ["a numpy number", "use float(x) or int(x)"],
  Pattern: ["a compiled pattern", "use x.pattern"],
  Match: ["a match object", "use x.group()"],
  Message: ["an e-mail message", "use x.as_string()"],
  Image: ["an image object", "save it to io.BytesIO() and store getvalue()"],
  Document: ["an open document", "store its text, or what x.tobytes() returns"],
  Session: ["a session", "store x.text, x.content or x.json() of what it answers"],
  Response: ["a response object", "store x.text, x.content or x.json()"],
  hash: ["a hash object", "use x.hexdigest()"],
  connection: ["a connection", "store what you read from it"],
  object: ["an object", "store a dict of the fields that you need"],
  /** The context stores bytes, but json.dumps rejects them. */
  bytes: ["bytes", "set it in context instead of printing it, or use base64.b64encode(x).decode()"],
} as const;

export type UnfitType = keyof typeof unfitTypes;

/** The known type of a value. `none` is the type of None; `number` stands only for literal numbers. */
export type Type = UnfitType | "dict" | "none" | "number";

const datetimeMakers =
  "datetime.datetime(\\.(now|utcnow|today|fromisoformat|strptime|fromtimestamp|utcfromtimestamp|combine))?";

/** Patterns of functions and classes, by the type that they certainly return. */
const resultTypes: Partial<Record<UnfitType | "dict", RegExp | RegExp[]>> = {
  datetime: new RegExp(
    `^(${datetimeMakers}|dateutil\\.parser\\.(parse|isoparse)|email\\.utils\\.parsedate_to_datetime)$`,
  ),
  date: /^datetime\.date(\.(today|fromisoformat|fromtimestamp|fromordinal))?$/,
  time: /^datetime\.time$/,
  timedelta: /^datetime\.timedelta$/,
  Decimal: /^decimal\.Decimal$/,
  Fraction: /^fractions\.Fraction$/,
  UUID: /^uuid\.(UUID|uuid[1345])$/,
  Path: /^pathlib\.(Pure)?(Posix|Windows)?Path(\.(cwd|home))?$/,
  set: /^builtins\.(set|frozenset)$/,
  complex: /^builtins\.complex$/,
  range: /^builtins\.range$/,
  iterator: [
    /^builtins\.(map|filter|zip|enumerate|reversed|iter)$|^re\.finditer$|^csv\.(reader|DictReader)$/,
    /^itertools\.(chain(\.from_iterable)?|groupby|islice|count|cycle|product|permutations|combinations|accumulate)$/,
  ],
  file: /^builtins\.open$|^io\.open$|^gzip\.open$|^zipfile\.ZipFile$|^tempfile\.(NamedTemporaryFile|TemporaryFile)$/,
  buffer: /^io\.(BytesIO|StringIO)$/,
  dict: /^builtins\.(dict)$|^collections\.(Counter|defaultdict|OrderedDict)$/,
  exception: /^builtins\.[A-Z]\w*(Error|Exception|Warning|Exit|Interrupt|Iteration)$/,
  deque: /^collections\.deque$/,
  Pattern: /^re\.compile$/,
  Match: /^re\.(match|search|fullmatch)$/,
  Message: /^email\.(message_from_(bytes|string|file|binary_file)|message\.(EmailMessage|Message)|mime\.\w+\.MIME\w+)$/,
  Session: /^requests\.(Session|session)$/,
  Response: /^requests\.(get|post|put|patch|delete|head|options|request)$|^urllib\.request\.urlopen$/,
  DataFrame:
    /^pandas\.(DataFrame(\.from_\w+)?|read_(csv|excel|json|sql|sql_query|parquet|table)|merge|json_normalize|pivot_table)$/,
  Series: /^pandas\.(Series|to_datetime|to_numeric|date_range|cut)$/,
  Timestamp: /^pandas\.Timestamp(\.(now|today))?$/,
  ndarray: /^numpy\.(array|asarray|arange|zeros|ones|linspace|unique|concatenate|where)$/,
  "numpy number": [
    /^numpy\.(mean|median|std|var|percentile|quantile|average|float64|float32|int64|int32|bool_)$/,
    /^numpy\.(sum|prod|max|min|amax|amin|sqrt|exp|log|log10|floor|ceil|round)$/,
  ],
  Image: /^PIL\.Image\.(open|new|fromarray|frombytes)$/,
  Document: /^(fitz|pymupdf)\.(open|Document)$/,
  hash: /^hashlib\.(md5|sha1|sha224|sha256|sha384|sha512|blake2b|blake2s|new)$|^hmac\.new$/,
  connection: /^(psycopg|psycopg2|sqlite3)\.connect$|^smtplib\.SMTP(_SSL)?$|^imaplib\.IMAP4(_SSL)?$/,
  object:
    /^xml\.etree\.ElementTree\.(fromstring|parse|Element)$|^types\.SimpleNamespace$|^zoneinfo\.ZoneInfo$|^builtins\.object$|^subprocess\.run$/,
  bytes:
    /^base64\.(b64encode|b64decode|urlsafe_b64encode|urlsafe_b64decode|encodebytes)$|^builtins\.bytes$|^secrets\.token_bytes$/,
};

const values: Record<string, UnfitType> = {
  "os.environ": "environ",
  "math.nan": "nan",
  "math.inf": "nan",
  "numpy.nan": "nan",
  "numpy.inf": "nan",
};

const types = Object.keys(resultTypes) as (UnfitType | "dict")[];

export function resultTypeOf(path: string): UnfitType | "dict" | undefined {
  return types.find((type) => [resultTypes[type] ?? []].flat().some((pattern) => pattern.test(path)));
}

export function typeOfValue(path: string): UnfitType | undefined {
  return Object.hasOwn(values, path) ? values[path] : undefined;
}

const frames =
  "head tail copy sort_values sort_index reset_index set_index merge drop fillna rename query sample nlargest nsmallest " +
  "describe dropna drop_duplicates pivot_table assign astype join round";

export const methodTypes: Partial<Record<UnfitType | "dict", Record<string, UnfitType | "dict">>> = {
  datetime: { replace: "datetime", astimezone: "datetime", date: "date", time: "time" },
  date: { replace: "date" },
  Decimal: mapMethods("quantize normalize copy_abs sqrt to_integral_value", "Decimal"),
  set: mapMethods("union intersection difference symmetric_difference copy", "set"),
  DataFrame: { ...mapMethods(frames, "DataFrame"), groupby: "GroupBy", sum: "Series", mean: "Series", count: "Series" },
  GroupBy: { ...mapMethods("sum mean count max min agg size first last median", "DataFrame") },
  Series: {
    ...mapMethods("head tail copy sort_values reset_index dropna fillna astype round value_counts map", "Series"),
    ...mapMethods("mean median std var sum", "numpy number"),
    unique: "ndarray",
    to_numpy: "ndarray",
  },
  ndarray: mapMethods("mean sum std var", "numpy number"),
  Pattern: { ...mapMethods("match search fullmatch", "Match"), finditer: "iterator" },
  dict: { keys: "view", values: "view", items: "view", copy: "dict" },
  Image: mapMethods("resize convert crop rotate copy transpose filter reduce", "Image"),
  Session: mapMethods("get post put patch delete head options request", "Response"),
  connection: { cursor: "connection" },
  buffer: { getvalue: "bytes" },
  hash: { digest: "bytes" },
};

function mapMethods<T>(names: string, type: T): Record<string, T> {
  return Object.fromEntries(names.split(" ").map((name) => [name, type]));
}
