import { type ContextData, renderPrompt } from "@nova/workflow";
import { atMost, type BenchApart, median, rounded, timed } from "../figure.ts";

const values = 1_000;
const valueCharacters = 1_000;
const rounds = 15;
const aimMs = 20;

/** Measures how long it takes to insert a megabyte of other nodes' outputs into a prompt. */
export const references: BenchApart = async () => {
  const text = "The {river} rises.".repeat(valueCharacters / 18 + 1).slice(0, valueCharacters);
  const numbers = Array.from({ length: values }, (_, index) => index + 1);
  const items = numbers.map((number) => `{List[${number}]}`).join("\n");
  const ways: Record<string, [string, ContextData]> = {
    one_value: ["{Whole}", { Whole: text.repeat(values) }],
    nodes: [numbers.map((number) => `{Node ${number}}`).join("\n"), nodesOf(numbers, text)],
    numbered_items: [items, { List: numbers.map((number) => `${number}. ${text}`).join("\n") }],
    json_items: [items, { List: JSON.stringify(numbers.map(() => text)) }],
  };
  const times: Record<string, number> = {};
  for (const [name, [prompt, data]] of Object.entries(ways)) times[name] = await medianMs(prompt, data);
  const slowest = Math.max(...Object.values(times));
  const detail = Object.fromEntries(Object.entries(times).map(([name, ms]) => [`${name}_ms`, rounded(ms)]));
  return [atMost(aimMs, "1 MB of values is put into a prompt in, slowest way", slowest, detail, " ms")];
};

function nodesOf(numbers: readonly number[], text: string): ContextData {
  const mapping = Object.fromEntries(numbers.map((number) => [`Node ${number}`, `n${number}`]));
  return { __node_mapping: mapping, ...Object.fromEntries(numbers.map((number) => [`id:n${number}`, text])) };
}

async function medianMs(prompt: string, data: ContextData): Promise<number> {
  const times: number[] = [];
  for (let round = 0; round < rounds; round++) {
    times.push(
      await timed(async () => {
        const { processed_prompt } = renderPrompt(prompt, data, { maxChars: 2_000_000 });
        if (processed_prompt.length < values * valueCharacters) throw new RangeError("the prompt lacks values");
      }),
    );
  }
  return median(times);
}
