import type { Command } from "commander";
import { type ExitCode, InvalidInput } from "../errors.ts";
import type { Told } from "../output/terminal.ts";

/** What help says of an argument or an option, and how it is read. */
type Says =
  | string
  | {
      says: string;
      /** Stands for one that is absent. */
      absent?: string | readonly string[];
      needed?: true;
      /** It may come several times. */
      each?: true;
      choices?: readonly string[];
    };

/** `--max-cost-usd <x>` is read as `maxCostUsd`, `--no-wait` as `wait`. */
type NameOf<Written> = Written extends `--no-${infer Name}`
  ? Name
  : Written extends `--${infer Name} ${string}`
    ? Camel<Name>
    : Written extends `--${infer Name}`
      ? Camel<Name>
      : never;
type Camel<Name> = Name extends `${infer First}-${infer Rest}` ? `${First}${Capitalize<Camel<Rest>>}` : Name;

type ValueOf<Written, Text> = Written extends `--no-${string}`
  ? boolean
  : Written extends `${string}...>`
    ? string[] | undefined
    : Written extends `${string}>` | `${string}]`
      ? TextOf<Text> | (Written extends `${string}]` ? true : never) | (Text extends Given ? never : undefined)
      : true | undefined;
type Given = { absent: unknown } | { needed: true } | { each: true };
type TextOf<Text> = Text extends { choices: readonly (infer One)[] }
  ? One
  : Text extends { each: true }
    ? string[]
    : string;

type OptionsOf<Takes> = { [Written in keyof Takes as NameOf<Written>]: ValueOf<Written, Takes[Written]> };

/** One command of `nova`: how it is written, and what it does. */
export interface CliCommand<Takes = Record<string, Says>, Options = Record<string, unknown>> {
  summary: string;
  /** Arguments (`<folder>`, `[node]`) and options (`--node <id>`), each with what help says of it. */
  takes?: Takes;
  /** What help says of `--json`; false: the command has no such option. */
  json?: string | false;
  /** `args` as declared, then the options as one object. Answers what is to be printed, or how it ended. */
  run(args: string[], options: Options): Promise<Told | ExitCode | undefined>;
}

/** Gives `run` the types of what the command takes. */
export function command<const Takes extends Record<string, Says>>(
  described: CliCommand<Takes, OptionsOf<Takes> & { json: true | undefined }>,
): CliCommand {
  return described as unknown as CliCommand;
}

/** Adds arguments and options to a command that has its name. */
export function declare(declared: Command, { summary, takes = {}, json = "print one JSON object" }: CliCommand): void {
  declared.summary(summary);
  for (const [written, text] of Object.entries({ ...takes, ...(json && { "--json": json }) })) {
    const { says, absent, needed, each, choices }: Exclude<Says, string> =
      typeof text === "string" ? { says: text } : text;
    if (!written.startsWith("--")) {
      declared.argument(written, says, absent);
      continue;
    }
    const option = declared.createOption(written, says).makeOptionMandatory(needed === true);
    if (absent !== undefined) option.default(absent);
    if (choices) option.choices(choices);
    // `true` stands for all: commander's value of an option without one.
    const collect = (value: string, before: string[] | true) => before === true || [...before, value];
    declared.addOption(each ? option.default([]).argParser(collect) : option);
  }
}

/** Throws `InvalidInput` for what the command cannot do. */
export function actionOf<Action extends string>(name: string, actions: readonly Action[], asked = ""): Action {
  const action = actions.find((one) => one === asked);
  if (action) return action;
  throw new InvalidInput(`nova ${name} cannot "${asked}" - it can ${new Intl.ListFormat("en-GB").format(actions)}`);
}

/** Throws `InvalidInput` for a text that is none of them; `what` it is. */
export function oneOf<One extends string>(
  what: string,
  all: readonly One[],
  text: string | undefined,
): One | undefined {
  const found = all.find((one) => one === text);
  if (found || text === undefined) return found;
  throw new InvalidInput(`there is no ${what} "${text}" - use one of ${all.join(", ")}`);
}
