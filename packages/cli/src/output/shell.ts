export { shellWord } from "@nova/workflow/shell-word";
