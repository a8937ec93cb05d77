import { userInfo } from "node:os";
import type { Principal } from "@nova/service";

/** Whoever typed the command on a machine whose cloud is theirs: they may do everything, and the audit names them. */
export function thisUser(): Principal {
  const { username } = userInfo();
  return { id: `user ${username}`, role: "admin", client: null, name: username };
}
