import type { Figure } from "../bench/figure.ts";
import { openCloud } from "../cloud.ts";
import { exitCodes } from "../errors.ts";
import { print, styled } from "../output/terminal.ts";
import type { CliCommand } from "./command.ts";

export const bench: CliCommand = {
  declare: (command) =>
    command
      .summary("take the figures of this machine: how fast, how much")
      .argument("[figures...]", "such as forty-nodes; absent: all")
      .option("--json", "print one JSON object"),

  async run(args, { json }) {
    const { chooseBenches, takeFigures } = await import("../bench/bench.ts");
    const chosen = chooseBenches(args.flat());
    const { openInstantModel } = await import("../bench/instant-model.ts");
    const model = await openInstantModel();
    Object.assign(process.env, model.environment, { NOVA_FROZEN: "false" });
    const cloud = await openCloud({ inside: "bench" });
    try {
      const figures = await takeFigures(cloud, chosen, (figure) => {
        if (!json) print(lineOf(figure));
      });
      if (json) print(JSON.stringify({ figures }), true);
      return figures.some(({ met }) => met === false) ? exitCodes.failed : exitCodes.completed;
    } finally {
      await cloud.close();
      await model.close();
    }
  },
};

function lineOf({ name, aim, value, met, detail }: Figure): string {
  const mark = met === null ? styled("yellow", "-") : met ? styled("green", "✓") : styled("red", "✗");
  const parts = Object.entries(detail).map(([key, one]) => `${key} ${one}`);
  return `${mark} ${name}: ${styled("bold", String(value ?? "not taken"))} (aim: ${aim}) ${styled("dim", parts.join(", "))}`;
}
