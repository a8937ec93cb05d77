/** A number of fewer digits would be found in honest data, one of more is looked for as it was sent alone. */
const [fewestDigits, maxDigits] = [4, 40];

/** How people and programs write a JSON number. Rounded values are others. */
export function spellings(raw: string): string[] {
  const number = parsed(raw);
  if (!number) return [];
  const { whole, fraction } = number;
  if (`${whole}${fraction}`.replace(/^0+/, "").length < fewestDigits) return [];
  const decimals = fraction === "" ? ["", "0", "00"] : [fraction, `${fraction}0`];
  const plain = decimals.flatMap((part) => withDecimals(whole, part));
  const all = [...plain, ...exponents(number), ...(fraction === "" ? bases(BigInt(whole)) : [])];
  return Array.from(new Set(all));
}

/** Without its sign: that stands before it in every spelling. */
interface Digits {
  /** Without leading zeros, but for "0" alone. */
  whole: string;
  /** Without zeros at its end. */
  fraction: string;
}

function parsed(raw: string): Digits | undefined {
  const [, before = "", after = "", exponent = "0"] = /^-?(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(raw) ?? [];
  const shift = Number(exponent);
  if (before === "" || Math.abs(shift) > maxDigits || before.length + after.length > maxDigits) return undefined;
  const padded = `${"0".repeat(maxDigits)}${before}${after}${"0".repeat(maxDigits)}`;
  const point = maxDigits + before.length + shift;
  return {
    whole: padded.slice(0, point).replace(/^0+(?=\d)/, ""),
    fraction: padded.slice(point).replace(/0+$/, ""),
  };
}

/** What stands between thousands, and before the decimals. */
const ways: [thousands: string, point: string][] = [
  ...[",", "_", " ", "\u00a0", "\u202f", "\u2009", "'", "\u2019"].map((mark): [string, string] => [mark, "."]),
  ...[".", " ", "\u00a0", "\u202f", "'"].map((mark): [string, string] => [mark, ","]),
];

function withDecimals(whole: string, decimals: string): string[] {
  const grouped = (mark: string) => whole.replace(/\B(?=(\d{3})+$)/g, mark);
  if (decimals === "") return [whole, ...ways.map(([mark]) => grouped(mark))];
  return [".", ","]
    .map((point) => `${whole}${point}${decimals}`)
    .concat(ways.map(([mark, point]) => `${grouped(mark)}${point}${decimals}`));
}

/** As `repr`, `%e` and `%g` of Python and JavaScript write it. */
function exponents({ whole, fraction }: Digits): string[] {
  const digits = `${whole}${fraction}`.replace(/^0+/, "");
  if (digits === "") return [];
  const size = whole === "0" ? -(/^0*/.exec(fraction)?.[0].length ?? 0) - 1 : whole.length - 1;
  const significant = digits.replace(/0+$/, "");
  const [first = "", rest = ""] = [significant.slice(0, 1), significant.slice(1)];
  const mantissas = [
    rest === "" ? first : `${first}.${rest}`,
    `${first}.${rest.padEnd(6, "0")}`,
    `${first}.${rest || "0"}`,
    `${first}.${digits.slice(1)}`,
  ];
  const sign = size < 0 ? "-" : "+";
  const powers = [String(size), `${sign}${Math.abs(size)}`, `${sign}${String(Math.abs(size)).padStart(2, "0")}`];
  return mantissas.flatMap((mantissa) => powers.flatMap((power) => [`${mantissa}e${power}`, `${mantissa}E${power}`]));
}

function bases(value: bigint): string[] {
  const hex = value.toString(16);
  return [
    `0x${hex}`,
    `0X${hex.toUpperCase()}`,
    `0x${hex.toUpperCase()}`,
    `0o${value.toString(8)}`,
    `0b${value.toString(2)}`,
  ];
}
