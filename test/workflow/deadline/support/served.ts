import { serve } from "../../../../packages/workflow/src/deadline/deadline-worker.ts";

export const address = import.meta.url;

serve("served", async () => ({ again, forever, tooDeep, broken }));

function again(text: string): string {
  return text;
}

function forever(): never {
  for (;;);
}

function tooDeep(level: number): number {
  return tooDeep(level + 1) + 1;
}

function broken(): never {
  throw new TypeError("this is a fault of the code");
}
