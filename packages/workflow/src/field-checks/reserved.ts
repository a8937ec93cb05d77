/** Keys of the context that NOVA itself sets. */
const reserved = ["branch_decision", "error", "_data_analysis", "_ai_metadata"];

export function isReserved(key: string): boolean {
  return reserved.includes(key) || key.startsWith("$");
}
