import { createInterface } from "node:readline/promises";

/** What there is to ask with; tests play it. */
export interface Asking {
  isInteractive: boolean;
  /** Whether the answer is yes. `unsaid`: what an empty line means. */
  ask(question: string, unsaid?: "yes" | "no"): Promise<boolean>;
}

export const thisTerminal: Asking = {
  get isInteractive() {
    return process.stdin.isTTY === true && process.stderr.isTTY === true && !process.env.CI;
  },
  async ask(question, unsaid = "yes") {
    const lines = createInterface({ input: process.stdin, output: process.stderr });
    try {
      const answer = (await lines.question(`${question} ${unsaid === "yes" ? "[Y/n]" : "[y/N]"} `)).trim();
      return /^y(es)?$/i.test(answer || unsaid);
    } finally {
      lines.close();
    }
  },
};

/** For commands whose output a program reads. */
export const nobody: Asking = { isInteractive: false, ask: async () => false };
