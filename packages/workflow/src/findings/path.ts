const step = /\.([A-Za-z_$][\w$]*)|\[(\d+)\]|\[("(?:[^"\\]|\\.)*")\]/g;

/** `$.nodes` and 2, "timeout" -> `$.nodes[2].timeout`. */
export function at(path: string, ...segments: PropertyKey[]): string {
  return segments.reduce<string>((before, segment) => before + formatStep(segment), path);
}

/** The segments of a path that `at` made. */
export function segmentsOf(path: string): (string | number)[] {
  return [...path.matchAll(step)].map(([, name, index, quoted]) =>
    name !== undefined ? name : index !== undefined ? Number(index) : JSON.parse(quoted ?? '""'),
  );
}

function formatStep(segment: PropertyKey): string {
  if (typeof segment === "number") return `[${segment}]`;
  const name = String(segment);
  return /^[A-Za-z_$][\w$]*$/.test(name) ? `.${name}` : `[${JSON.stringify(name)}]`;
}
