export { dataFolder } from "./data-folder.ts";
export { main } from "./main.ts";
export { shellWord } from "./output/shell.ts";
export { tableLines } from "./output/table.ts";
