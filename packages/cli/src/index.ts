export { main } from "./main.ts";
export { tableLines } from "./output/table.ts";
