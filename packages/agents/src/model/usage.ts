/** Tokens; `cached` is the part of `input` that the provider had kept, and `output` includes reasoning. */
export interface Usage {
  input: number;
  cached: number;
  output: number;
}

export const noUsage: Usage = { input: 0, cached: 0, output: 0 };

/** Tokens of one request; `cacheWrite` is the part of `input` that the provider wrote to its cache. */
export interface RequestUsage extends Usage {
  cacheWrite: number;
}

export function addUsage(a: Usage, b: Usage): Usage {
  return { input: a.input + b.input, cached: a.cached + b.cached, output: a.output + b.output };
}
