import { createInterface } from "node:readline/promises";

/** The terminal that questions use; tests replace it. */
export interface Asking {
  isInteractive: boolean;
  /** Whether the user says yes. `unsaid` is the meaning of an empty line. */
  ask(question: string, emptyMeans?: "yes" | "no"): Promise<boolean>;
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

/** For commands whose output a program reads: every answer is no. */
export const noTerminal: Asking = { isInteractive: false, ask: async () => false };
