import { userInfo } from "node:os";
import type { Principal } from "@nova/service";

/** The user of this machine, as an administrator of its cloud; audit records have this name. */
export function thisUser(): Principal {
  const { username } = userInfo();
  return { id: `user ${username}`, role: "admin", client: null, name: username };
}
