export { shellWord } from "@nova/workflow/shell-word";
export { dataFolder } from "./cloud.ts";
export { tableLines } from "./output/text.ts";
