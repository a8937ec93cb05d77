/** A field of a cron expression of EventBridge. Source: EventBridge Scheduler User Guide, "Cron-based schedules". */
interface Field {
  name: string;
  min: number;
  max: number;
  /** Names of values, the first for `min`. */
  names: readonly string[];
  /** Whole values that this field alone has. */
  special: RegExp;
}

const months = ["JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"];
const days = ["SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"];
const nothing = /^(?!)/;

const fields: readonly Field[] = [
  { name: "minute", min: 0, max: 59, names: [], special: nothing },
  { name: "hour", min: 0, max: 23, names: [], special: nothing },
  { name: "day of the month", min: 1, max: 31, names: [], special: /^(\?|L|LW|([1-9]|[12]\d|3[01])W)$/ },
  { name: "month", min: 1, max: 12, names: months, special: nothing },
  {
    name: "day of the week",
    min: 1,
    max: 7,
    names: days,
    special: /^(\?|L|([1-7]|[A-Z]{3})L|([1-7]|[A-Z]{3})#[1-5])$/,
  },
  { name: "year", min: 1970, max: 2199, names: [], special: nothing },
];

const example = "0 9 ? * MON-FRI * for 9:00 on working days";

/** What is wrong with a cron expression, as the end of a sentence that begins with `cron`; undefined where nothing is. */
export function cronProblem(cron: string): string | undefined {
  const parts = cron.trim().toUpperCase().split(/\s+/);
  if (/^CRON\(/.test(parts[0] ?? "")) return "is written without cron( ) around - remove that";
  if (parts.length !== fields.length) {
    const extra = parts.length === 5 ? " (with ? for one of the two days, and a year)" : "";
    return `has ${parts.length} fields and not 6: ${fields.map(({ name }) => name).join(", ")}${extra} - write such as ${example}`;
  }
  const wrong = fields.find((field, index) => !isValueOf(field, parts[index] ?? ""));
  if (wrong) return `has a wrong ${wrong.name}, ${parts[fields.indexOf(wrong)]} - write such as ${example}`;
  if ((parts[2] === "?") === (parts[4] === "?")) {
    return `needs ? as exactly one of day of the month and day of the week - write such as ${example}`;
  }
  return undefined;
}

function isValueOf(field: Field, text: string): boolean {
  return field.special.test(text) || text.split(",").every((item) => isRange(field, item));
}

/** `*`, `5`, `MON`, `1-5`, each with a step behind a slash. */
function isRange(field: Field, item: string): boolean {
  const [range = "", step, ...more] = item.split("/");
  if (more.length > 0 || (step !== undefined && !/^[1-9]\d{0,3}$/.test(step))) return false;
  if (range === "*") return true;
  const ends = range.split("-");
  return ends.length <= 2 && ends.every((end) => isOne(field, end));
}

function isOne({ min, max, names }: Field, text: string): boolean {
  if (names.includes(text)) return true;
  return /^\d{1,4}$/.test(text) && Number(text) >= min && Number(text) <= max;
}
