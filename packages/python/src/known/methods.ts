/** Methods of Python's own values that change nothing, and whose answer is a new value. */
export const pureMethods = new Set(
  (
    "capitalize casefold center count decode encode endswith expandtabs find format format_map hex index isalnum isalpha " +
    "isascii isdecimal isdigit isidentifier islower isnumeric isprintable isspace istitle isupper join ljust lower lstrip " +
    "maketrans partition removeprefix removesuffix replace rfind rindex rjust rpartition rsplit rstrip split splitlines " +
    "startswith strip swapcase title translate upper zfill as_integer_ratio bit_length bit_count conjugate is_integer " +
    "to_bytes keys isdisjoint issubset issuperset union intersection difference symmetric_difference fromhex " +
    "__len__ __contains__ __str__ __repr__ __eq__"
  ).split(" "),
);

/** Methods of dicts and lists whose answer is (part of) what they are called on. */
export const partMethods = new Set("get pop setdefault popitem __getitem__ __iter__".split(" "));

/** Methods whose answer is a new container of the same parts. */
export const copyMethods = new Set("copy values items __copy__ fromkeys".split(" "));

/** Methods that change the dict or list they are called on. */
export const changingMethods = new Set(
  (
    "append extend insert remove pop popitem clear update setdefault sort reverse add discard __setitem__ __delitem__ " +
    "__ior__ __iadd__"
  ).split(" "),
);

/** What a dict has behind a dot. */
export const dictMethods = new Set(
  "clear copy fromkeys get items keys pop popitem setdefault update values move_to_end".split(" "),
);
