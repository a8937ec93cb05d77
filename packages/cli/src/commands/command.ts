import type { Command } from "commander";
import { type ExitCode, InvalidInput } from "../errors.ts";
import type { CommandOutput } from "../output/terminal.ts";

export type Says =
  | string
  | {
      says: string;
      absent?: string | readonly string[];
      needed?: true;
      each?: true;
      choices?: readonly string[];
    };

/** The property name of an option: `maxCostUsd` for `--max-cost-usd <x>`, `wait` for `--no-wait`. */
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
      ? TextOf<Text> | (Written extends `${string}]` ? true : never) | (Text extends AlwaysSet ? never : undefined)
      : true | undefined;
type AlwaysSet = { absent: unknown } | { needed: true } | { each: true };
type TextOf<Text> = Text extends { choices: readonly (infer One)[] }
  ? One
  : Text extends { each: true }
    ? string[]
    : string;

type OptionsOf<Takes> = { [Written in keyof Takes as NameOf<Written>]: ValueOf<Written, Takes[Written]> };

export interface CliCommand<Takes = Record<string, Says>, Options = Record<string, unknown>> {
  summary: string;
  takes?: Takes;
  json?: string | false;
  run(args: string[], options: Options): Promise<CommandOutput | ExitCode | undefined>;
}

/** Declares a command. The parameter types of its `run` follow from the declared arguments and options. */
export function command<const Takes extends Record<string, Says>>(
  described: CliCommand<Takes, OptionsOf<Takes> & { json: true | undefined }>,
): CliCommand {
  return described as unknown as CliCommand;
}

/** Adds summary, arguments and options to a commander command. */
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
    // Commander passes `true` for an option without a value. For NOVA's commands, `true` then means all possible
    // values.
    const collect = (value: string, before: string[] | true) => before === true || [...before, value];
    declared.addOption(each ? option.default([]).argParser(collect) : option);
  }
}

/** Finds the action `asked` in `actions`. Throws `InvalidInput` if `actions` does not contain it. */
export function actionOf<Action extends string>(name: string, actions: readonly Action[], asked = ""): Action {
  const action = actions.find((one) => one === asked);
  if (action) return action;
  throw new InvalidInput(`nova ${name} cannot "${asked}" - it can ${new Intl.ListFormat("en-GB").format(actions)}`);
}

/** Runs the action that the first argument of the command names. Throws `InvalidInput` if there is no such action. */
export function runAction(
  name: string,
  asked: string | undefined,
  actions: Record<string, () => Promise<CommandOutput>>,
): Promise<CommandOutput> {
  const action = actions[actionOf(name, Object.keys(actions), asked)] as () => Promise<CommandOutput>;
  return action();
}

/**
 * Returns `text` if it is undefined or one of `all`. Otherwise throws `InvalidInput`. `what` says in the message for
 * what the user has to choose a value.
 */
export function oneOf<One extends string>(
  what: string,
  all: readonly One[],
  text: string | undefined,
): One | undefined {
  const found = all.find((one) => one === text);
  if (found || text === undefined) return found;
  throw new InvalidInput(`there is no ${what} "${text}" - use one of ${all.join(", ")}`);
}
