/**
 * Returns a minimal configuration for dovecot 2.3: IMAP without TLS on this machine, users in a file, mails in a
 * Maildir. `anvil-auth-penalty` is off, because dovecot would delay logins after a wrong password.
 */
export function configuration({ dir, port }: { dir: string; port: number }): string {
  return `
base_dir = ${dir}/run
state_dir = ${dir}/state
log_path = ${dir}/dovecot.log
protocols = imap
listen = 127.0.0.1
ssl = no
disable_plaintext_auth = no
auth_mechanisms = plain login
auth_failure_delay = 0
first_valid_uid = 8
mail_location = maildir:~/Maildir
maildir_stat_dirs = yes
service imap-login {
  chroot =
  inet_listener imap {
    port = ${port}
  }
  inet_listener imaps {
    port = 0
  }
}
service anvil {
  unix_listener anvil-auth-penalty {
    mode = 0
  }
}
passdb {
  driver = passwd-file
  args = ${dir}/users
}
userdb {
  driver = static
  args = uid=8 gid=8 home=${dir}/home
}
`;
}
