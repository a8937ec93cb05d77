/**
 * The codes by their severity, without `NOVA`; docs/findings.md explains each. A code never changes its meaning, and the
 * code of a removed finding is not used again.
 */
const errors = [
  101, 102, 103, 104, 105, 106, 107, 108, 109, 110, 111, 112, 113, 114, 120, 121, 122, 123, 124, 125, 126, 127, 130,
  131, 201, 202, 203, 204, 205, 206, 207, 209, 210, 211, 220, 221, 222, 223, 226, 230, 231, 232, 233, 240, 241, 242,
  243, 244, 245, 301, 303, 304, 401, 402, 403, 404, 405, 406, 407, 408, 409, 410, 411, 412, 413, 414, 415, 416, 417,
  418, 419, 420, 421, 422, 423, 430, 440, 441, 442, 501, 502, 503, 505, 506, 507, 511, 512, 515, 601, 602, 603, 607,
  701, 801, 802, 803, 805,
] as const;
const warnings = [
  115, 116, 128, 129, 132, 133, 224, 225, 302, 424, 425, 429, 504, 508, 509, 510, 513, 514, 604, 606, 608, 609, 702,
  804,
] as const;

export type FindingCode = `NOVA${(typeof errors | typeof warnings)[number]}`;

export const findings = Object.fromEntries([
  ...errors.map((code) => [`NOVA${code}`, "error"]),
  ...warnings.map((code) => [`NOVA${code}`, "warning"]),
]) as Record<FindingCode, Finding["severity"]>;

export interface Finding {
  code: FindingCode;
  severity: "error" | "warning";
  /** JSON path into the definition as it was written: `$.nodes[2].timeout`. */
  path: string;
  /** One sentence: what is wrong, and the way out. */
  message: string;
  /** File that `line` and `column` (both from 1) are about; without it they are about the text at `path`. */
  file?: string;
  line?: number;
  column?: number;
}

export function finding(
  code: FindingCode,
  path: string,
  message: string,
  place: Pick<Finding, "file" | "line" | "column"> = {},
): Finding {
  return { code, severity: findings[code], path, message, ...place };
}
