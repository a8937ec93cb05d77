/** Which account, keys or NOVA the shell talks to. Nothing of this command may reach any of them. */
const elsewhere = /^(AWS|NOVA|E2B|OPENAI|MOTO|SST)_(?!PYTHON$)/;

/** The variables of the shell without those that lead to a real account. `NOVA_PYTHON` stays: it names a program. */
export function shell(): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !elsewhere.test(name)));
}

export const region = "us-east-1";

/** Sends clients of AWS to an endpoint of this machine, and takes the files of the user from them. */
export function awsAt(endpoint: string): Record<string, string> {
  return {
    AWS_ENDPOINT_URL: endpoint,
    AWS_REGION: region,
    AWS_DEFAULT_REGION: region,
    AWS_ACCESS_KEY_ID: "truth",
    AWS_SECRET_ACCESS_KEY: "truth-secret",
    AWS_CONFIG_FILE: "/dev/null",
    AWS_SHARED_CREDENTIALS_FILE: "/dev/null",
    AWS_EC2_METADATA_DISABLED: "true",
  };
}
