import { invalid } from "../errors.ts";

/**
 * The number 0.d1d2d3... x 10^exponent, where d1, d2, d3... are the digits. They have no zeros at either end; the
 * number zero has no digits.
 */
interface Decimal {
  negative: boolean;
  digits: string;
  exponent: number;
}

/** DynamoDB's limits: 38 digits, 1E-130 to 9.99E+125. */
const maxDigits = 38;
const leastExponent = -129;
const greatestExponent = 126;

const plainInteger = /^(?:0|-?[1-9]\d{0,14})$/;
const decimal = /^([+-]?)(\d*)\.?(\d*)(?:[eE]([+-]?\d{1,9}))?$/;

/**
 * Returns the normal form of a number: 1.50, +1.5 and 15E-1 all become `1.5`. Refuses numbers that DynamoDB cannot
 * store.
 */
export function canonicalNumber(text: string): string {
  return plainInteger.test(text) ? text : textOf(checkRange(parseDecimal(text)));
}

export function addNumbers(a: string, b: string): string {
  const sum = Number(a) + Number(b);
  if (plainInteger.test(a) && plainInteger.test(b) && Number.isSafeInteger(sum)) return String(sum);
  return textOf(checkRange(addDecimals(parseDecimal(a), parseDecimal(b))));
}

/**
 * Returns bytes in this order: sign, exponent, digits. The bytes of two numbers sort like the numbers. For a negative
 * number, the exponent and the digits are inverted, because a negative number with a larger amount sorts first.
 */
export function numberKey(text: string): Buffer {
  const { negative, digits, exponent } = parseDecimal(text);
  if (digits === "") return Buffer.from([1]);
  const biased = exponent - leastExponent;
  if (!negative) return Buffer.concat([Buffer.from([2, biased]), Buffer.from(digits)]);
  // The digits of a negative number end with a large byte, so that -1 sorts after -1.5, which has more digits.
  const inverted = Array.from(digits, (digit) => 0x39 - Number(digit));
  return Buffer.from([0, 255 - biased, ...inverted, 255]);
}

export function compareNumbers(a: string, b: string): number {
  if (plainInteger.test(a) && plainInteger.test(b)) return Number(a) - Number(b);
  return Buffer.compare(numberKey(a), numberKey(b));
}

/** Returns the size of a number as DynamoDB counts it: one byte, one for every two digits, and one for a minus sign. */
export function numberBytes(text: string): number {
  const digits = text.replace(/^-|\./g, "").replace(/^0+|0+$/g, "").length;
  return Math.ceil(digits / 2) + 1 + (text.startsWith("-") ? 1 : 0);
}

function parseDecimal(text: string): Decimal {
  const [, sign, whole = "", fraction = "", power = "0"] = decimal.exec(text) ?? [];
  if (whole + fraction === "") throw invalid(invalidNumber(text));
  const all = whole + fraction;
  const digits = all.replace(/^0+/, "");
  const exponent = Number(power) + whole.length - (all.length - digits.length);
  const significant = digits.replace(/0+$/, "");
  if (significant === "") return { negative: false, digits: "", exponent: 0 };
  return { negative: sign === "-", digits: significant, exponent };
}

function invalidNumber(text: string): string {
  const message = "The parameter cannot be converted to a numeric value";
  return text === "" ? message : `${message}: ${text}`;
}

function checkRange(number: Decimal): Decimal {
  const { digits, exponent } = number;
  const range = (what: string, size: string) =>
    invalid(`Number ${what}. Attempting to store a number with magnitude ${size} than supported range`);
  if (exponent > greatestExponent) throw range("overflow", "larger");
  if (exponent < leastExponent) throw range("underflow", "smaller");
  if (digits.length <= maxDigits) return number;
  throw invalid("Attempting to store more than 38 significant digits in a Number");
}

function textOf({ negative, digits, exponent }: Decimal): string {
  if (digits === "") return "0";
  const sign = negative ? "-" : "";
  if (exponent <= 0) return `${sign}0.${"0".repeat(-exponent)}${digits}`;
  if (digits.length <= exponent) return sign + digits.padEnd(exponent, "0");
  return `${sign}${digits.slice(0, exponent)}.${digits.slice(exponent)}`;
}

function addDecimals(a: Decimal, b: Decimal): Decimal {
  const power = Math.min(a.exponent - a.digits.length, b.exponent - b.digits.length);
  const sum = scaleDigits(a, power) + scaleDigits(b, power);
  return parseDecimal(`${sum}E${power}`);
}

function scaleDigits({ negative, digits, exponent }: Decimal, power: number): bigint {
  const zeros = Math.max(0, exponent - digits.length - power);
  const magnitude = BigInt((digits || "0") + "0".repeat(digits ? zeros : 0));
  return negative ? -magnitude : magnitude;
}
