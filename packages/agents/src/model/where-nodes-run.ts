/** Whose variables count, since the same sentence reaches people in other processes: "set OPENAI_API_KEY where ...". */
export const whereNodesRun = "where nodes run (in the terminal of `nova dev`, if that is open)";
