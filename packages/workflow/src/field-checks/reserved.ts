/** The context keys that only NOVA sets. */
export const reservedKey = /^(branch_decision|error|_data_analysis|_ai_metadata)$|^\$/;

export function isReserved(key: string): boolean {
  return reservedKey.test(key);
}
