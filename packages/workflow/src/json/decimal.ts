/**
 * A number of JSON with all of its digits: `sign * digits * 10 ** exponent`, where `digits` is a whole number without
 * zeros at its ends. It is never written out, so `1e1000000000` costs no more than its text.
 */
export interface Decimal {
  sign: -1 | 0 | 1;
  /** Empty where the number is zero. */
  digits: string;
  exponent: bigint;
}

const zero: Decimal = { sign: 0, digits: "", exponent: 0n };

/** Reads the text of a JSON number, or a finite `number` as JavaScript writes it. */
export function decimalOf(text: string): Decimal {
  const [mantissa = "", exponent = "0"] = text.toLowerCase().split("e");
  const [whole = "", fraction = ""] = mantissa.replace("-", "").split(".");
  const written = (whole + fraction).replace(/^0+/, "");
  // A search for zeros at the end by a pattern takes time quadratic in the zeros.
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

/** Two numbers have the same text exactly if they are equal: 1, 1.0 and 10e-1 do, and 0 and -0. */
export function textOfDecimal({ sign, digits, exponent }: Decimal): string {
  return sign === 0 ? "0" : `${sign < 0 ? "-" : ""}${digits}e${exponent}`;
}

/** Negative where `a` is less than `b`, zero where they are equal. */
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

/** No power of ten that a divisor of one decimal digit can hold as a factor is higher than this. */
const bitsOfDigit = 4;

export function isMultipleOf(value: Decimal, divisor: Decimal): boolean {
  if (value.sign === 0 || divisor.sign === 0) return divisor.sign !== 0;
  const shift = value.exponent - divisor.exponent;
  // The last digit of `value` is no zero, so no multiple of ten is equal to it.
  if (shift < 0n) return false;
  // Factors 2 and 5 of the divisor are all that a power of ten can cancel: a higher power changes nothing.
  const most = BigInt(divisor.digits.length * bitsOfDigit);
  return (BigInt(value.digits) * 10n ** (shift < most ? shift : most)) % BigInt(divisor.digits) === 0n;
}
