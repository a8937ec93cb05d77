import { InvalidInput } from "../errors.ts";
import { print } from "../output/terminal.ts";
import { type CliCommand, command, oneOf, type Says } from "./command.ts";

const shells = ["bash", "zsh", "fish"] as const;
type Shell = (typeof shells)[number];

interface Completed {
  name: string;
  summary: string;
  /** The words that the first argument may be. */
  words: readonly string[];
  /** Whether the first argument may be the path of a folder or file instead of a word. */
  takesPath: boolean;
  options: { flag: string; says: string; takesValue: boolean }[];
}

type Loaders = Record<string, () => Promise<CliCommand>>;

/** Makes the command `nova completion`. `list` returns all commands, including this one. */
export const completionOf = (list: () => Loaders): CliCommand =>
  command({
    summary: "print the script that completes commands and options in a shell: source <(nova completion bash)",
    takes: { "<bash|zsh|fish>": "the shell" },
    json: false,
    async run([asked]) {
      const shell = oneOf("completion for the shell", shells, asked);
      if (!shell) throw new InvalidInput(`name the shell: nova completion ${shells.join("|")}`);
      const all = Object.entries(list()).map(async ([name, load]) => describeCommand(name, await load()));
      print(scripts[shell](await Promise.all(all)));
      return undefined;
    },
  });

function describeCommand(name: string, { summary, takes = {}, json = "print JSON" }: CliCommand): Completed {
  const written = Object.entries<Says>({
    ...takes,
    ...(json && { "--json": json }),
    "--help": "display help",
  });
  const [first = "", about] = written.find(([key]) => !key.startsWith("--")) ?? [];
  const [, choices = ""] = /^[<[]([a-z-]+(?:\|[a-z-]+)+)[\]>]$/.exec(first) ?? [];
  const options = written.flatMap(([key, text]) => {
    const [flag = "", value] = key.split(" ");
    if (!flag.startsWith("--")) return [];
    return [{ flag, says: typeof text === "string" ? text : text.says, takesValue: value !== undefined }];
  });
  const all = typeof about === "object" && about.choices ? about.choices : choices.split("|").filter(Boolean);
  const words = all.filter((word) => !pathNames.has(word) && !idNames.has(word));
  return { name, summary, words, takesPath: all.some((word) => pathNames.has(word)), options };
}

/** Words that stand for a path if the description of an argument contains them. */
const pathNames: ReadonlySet<string> = new Set(["folder", "file"]);
/** Words that stand for an id or a slug if the description of an argument contains them. */
const idNames: ReadonlySet<string> = new Set(["workflow", "client"]);

/** Quotes a text for a shell, without line breaks. */
function quote(text: string): string {
  return `'${text.replaceAll(/\s+/g, " ").replaceAll("'", "'\\''")}'`;
}

const scripts: Record<Shell, (all: readonly Completed[]) => string> = {
  bash: (all) =>
    [
      "_nova() {",
      // biome-ignore lint/suspicious/noTemplateCurlyInString: a variable of bash
      '  local cur="${COMP_WORDS[COMP_CWORD]}" words="" options="" files=""',
      "  COMPREPLY=()",
      '  if [ "$COMP_CWORD" -eq 1 ]; then',
      `    COMPREPLY=($(compgen -W ${quote([...all.map(({ name }) => name), "--help", "--version"].join(" "))} -- "$cur"))`,
      "    return",
      "  fi",
      // biome-ignore lint/suspicious/noTemplateCurlyInString: a variable of bash
      '  case "${COMP_WORDS[1]}" in',
      ...all.map(({ name, words, takesPath, options }) => {
        const flags = options.map(({ flag }) => flag).join(" ");
        const files = takesPath ? "; files=yes" : "";
        return `    ${name}) words=${quote(words.join(" "))}; options=${quote(flags)}${files} ;;`;
      }),
      "  esac",
      '  if [[ "$cur" == -* ]]; then COMPREPLY=($(compgen -W "$options" -- "$cur"))',
      '  elif [ "$COMP_CWORD" -eq 2 ] && [ -n "$words" ]; then',
      '    COMPREPLY=($(compgen -W "$words" -- "$cur"))',
      '    [ -z "$files" ] || COMPREPLY+=($(compgen -f -- "$cur"))',
      '  else COMPREPLY=($(compgen -f -- "$cur")); fi',
      "}",
      "complete -o filenames -F _nova nova",
    ].join("\n"),
  zsh: (all) =>
    [
      "#compdef nova",
      "_nova() {",
      "  local -a commands options words_here",
      "  local files",
      `  commands=(${all.map(({ name, summary }) => quote(`${name}:${summary}`)).join(" ")})`,
      "  if (( CURRENT == 2 )); then _describe command commands; return; fi",
      '  case "$words[2]" in',
      ...all.map(({ name, words, takesPath, options }) => {
        const flags = options.map(({ flag, says }) => quote(`${flag}:${says}`)).join(" ");
        const files = takesPath ? "; files=yes" : "";
        return `    ${name}) options=(${flags}); words_here=(${words.map(quote).join(" ")})${files} ;;`;
      }),
      "  esac",
      '  if [[ "$PREFIX" == -* ]]; then _describe option options',
      "  elif (( CURRENT == 3 && $#words_here )); then",
      "    _describe argument words_here",
      "    [[ -z $files ]] || _files",
      "  else _files; fi",
      "}",
      "compdef _nova nova",
    ].join("\n"),
  fish: (all) =>
    all
      .flatMap(({ name, summary, words, takesPath, options }) => [
        `complete -c nova -n __fish_use_subcommand -f -a ${name} -d ${quote(summary)}`,
        ...words.map((word) => {
          const isFirst = `__fish_seen_subcommand_from ${name}; and test (count (commandline -opc)) -eq 2`;
          return `complete -c nova -n '${isFirst}'${takesPath ? "" : " -f"} -a ${word}`;
        }),
        ...options.map(({ flag, says, takesValue }) => {
          const value = takesValue ? " -r" : "";
          return `complete -c nova -n '__fish_seen_subcommand_from ${name}' -l ${flag.slice(2)}${value} -d ${quote(says)}`;
        }),
      ])
      .join("\n"),
};
