export interface Bounds {
  min: number;
  max: number;
  /** Of values, the first for `min`. */
  names?: readonly string[];
}

/** Those that a field of a cron expression means, ascending. */
export type Values = readonly number[];

/** Of a list such as `1,10-20/5,MON-FRI,*`. A range that goes down goes around: `22-2` are the hours of a night. */
export function valuesOf(field: string, bounds: Bounds): Values {
  const found = new Set(field.split(",").flatMap((item) => valuesOfItem(item, bounds)));
  return [...found].sort((a, b) => a - b);
}

function valuesOfItem(item: string, bounds: Bounds): number[] {
  const { min, max } = bounds;
  const [range = "", step] = item.split("/");
  const [first = "", last] = range.split("-");
  const from = range === "*" ? min : numberOf(first, bounds);
  // One value with a step goes on to the end.
  const to = last !== undefined ? numberOf(last, bounds) : range === "*" || step !== undefined ? max : from;
  const length = to >= from ? to - from : to + (max - min + 1) - from;
  const by = Number(step ?? 1);
  const steps = Array.from({ length: Math.floor(length / by) + 1 }, (_, index) => from + index * by);
  return steps.map((value) => (value > max ? value - (max - min + 1) : value));
}

function numberOf(text: string, { min, names = [] }: Bounds): number {
  const named = names.indexOf(text);
  return named < 0 ? Number(text) : named + min;
}
