/** Code as a model gave it, without the markdown around it that some cannot leave out. */
export function withoutFence(text: string): string {
  const [, inside] = /^\s*```[\w+-]*[ \t]*\r?\n([\s\S]*?)\r?\n?```\s*$/.exec(text) ?? [];
  return inside ?? text;
}

/** Which stage code says it is of; without a mark it does the task. */
export function stageOf(code: string): "analysis" | "task" {
  const [, stage] = /^[ \t]*#[ \t]*STAGE:[ \t]*(ANALYSIS|TASK)\b/im.exec(code) ?? [];
  return stage?.toUpperCase() === "ANALYSIS" ? "analysis" : "task";
}
