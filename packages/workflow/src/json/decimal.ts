/**
 * A JSON number with all of its digits: `sign * digits * 10 ** exponent`, where `digits` is a whole number without
 * zeros at its ends. It is never written out, so `1e1000000000` costs no more than its text.
 */
export interface Decimal {
  sign: -1 | 0 | 1;
  /** Empty for zero. */
  digits: string;
  exponent: bigint;
}

const zero: Decimal = { sign: 0, digits: "", exponent: 0n };

/** Reads the text of a JSON number, or a finite `number` as JavaScript writes it. */
export function decimalOf(text: string): Decimal {
  const [mantissa = "", exponent = "0"] = text.toLowerCase().split("e");
  const [whole = "", fraction = ""] = mantissa.replace("-", "").split(".");
  const written = (whole + fraction).replace(/^0+/, "");
  // A regular expression for the zeros at the end would take quadratic time.
  let end = written.length;
  while (written[end - 1] === "0") end--;
  if (end === 0) return zero;
  const shift = BigInt(written.length - end - fraction.length);
  return {
    sign: mantissa.startsWith("-") ? -1 : 1,
    digits: written.slice(0, end),
    exponent: BigInt(exponent.replace("+", "")) + shift,
  };
}

/** Returns the same text for equal numbers, and only for those: for 1, 1.0 and 10e-1, or for 0 and -0. */
export function textOfDecimal({ sign, digits, exponent }: Decimal): string {
  return sign === 0 ? "0" : `${sign < 0 ? "-" : ""}${digits}e${exponent}`;
}

/** Returns a negative number if `a` is less than `b`, and zero if they are equal. */
export function compareDecimals(a: Decimal, b: Decimal): number {
  if (a.sign !== b.sign || a.sign === 0) return a.sign - b.sign;
  return a.sign * compareSizes(a, b);
}

function compareSizes(a: Decimal, b: Decimal): number {
  const [sizeA, sizeB] = [a, b].map(({ digits, exponent }) => exponent + BigInt(digits.length)) as [bigint, bigint];
  if (sizeA !== sizeB) return sizeA < sizeB ? -1 : 1;
  return a.digits === b.digits ? 0 : a.digits < b.digits ? -1 : 1;
}

export function isWhole({ exponent }: Decimal): boolean {
  return exponent >= 0n;
}

/** A divisor of n decimal digits holds no power of two or five above 4n. */
const bitsOfDigit = 4;

export function isMultipleOf(value: Decimal, divisor: Decimal): boolean {
  if (value.sign === 0 || divisor.sign === 0) return divisor.sign !== 0;
  const shift = value.exponent - divisor.exponent;
  // The last digit of `value` is not zero, so `value` is no multiple of ten.
  if (shift < 0n) return false;
  // A power of ten can cancel only the factors 2 and 5 of the divisor, so a higher power changes nothing.
  const most = BigInt(divisor.digits.length * bitsOfDigit);
  return (BigInt(value.digits) * 10n ** (shift < most ? shift : most)) % BigInt(divisor.digits) === 0n;
}
