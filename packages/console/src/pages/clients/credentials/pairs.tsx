import type { JSX } from "react";
import { Button, IconButton } from "../../../parts/button.tsx";
import { TextArea, TextField } from "../../../parts/field.tsx";
import { texts } from "../../../texts.ts";
import { type Kind, type Pair, pairProblem } from "./kinds.ts";
import "./pairs.css";

const words = texts.clients.credentials;

interface PairsProps {
  kind: Kind;
  label: string;
  pairs: readonly Pair[];
  onChange(pairs: readonly Pair[]): void;
}

/** Secret texts under names of one's own. They may have lines, as keys in PEM do. */
export function Pairs({ kind, label, pairs, onChange }: PairsProps): JSX.Element {
  const set = (index: number, change: Partial<Pair>) =>
    onChange(pairs.map((pair, at) => (at === index ? { ...pair, ...change } : pair)));
  return (
    <fieldset className="pairs">
      <legend>{label}</legend>
      {pairs.map(({ name, value }, index) => {
        const problem = pairProblem(kind, pairs, index);
        return (
          // biome-ignore lint/suspicious/noArrayIndexKey: a row is its place
          <div key={index} className="pair">
            <TextField
              label={words.pairName}
              error={problem && problem !== "short" ? words.problems[problem] : undefined}
              value={name}
              placeholder={kind === "custom" ? "api_key" : "X-Api-Key"}
              required={kind === "custom"}
              onChange={(to) => set(index, { name: to })}
            />
            <TextArea
              label={words.pairValue}
              error={problem === "short" ? words.problems.short : undefined}
              value={value}
              rows={1}
              required={kind === "custom"}
              autoComplete="off"
              onChange={(to) => set(index, { value: to })}
            />
            <IconButton
              icon="bin"
              label={words.removePair}
              disabled={pairs.length === 1}
              onClick={() => onChange(pairs.filter((_, at) => at !== index))}
            />
          </div>
        );
      })}
      <div>
        <Button icon="plus" tone="ghost" onClick={() => onChange([...pairs, { name: "", value: "" }])}>
          {words.addPair}
        </Button>
      </div>
    </fieldset>
  );
}
