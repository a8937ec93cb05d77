import { DomainName, SecurityPolicy } from "aws-cdk-lib/aws-apigatewayv2";
import { Certificate } from "aws-cdk-lib/aws-certificatemanager";
import type { Stack } from "sst/constructs";

/** A name of one's own for the API, where both variables are set; the output says what its DNS record has to name. */
export function createAddress(
  stack: Stack,
  { NOVA_API_DOMAIN: domainName, NOVA_API_CERTIFICATE_ARN: certificateArn }: NodeJS.ProcessEnv,
): DomainName | undefined {
  if (!domainName || !certificateArn) return undefined;
  const certificate = Certificate.fromCertificateArn(stack, "Certificate", certificateArn);
  const address = new DomainName(stack, "Address", { domainName, certificate, securityPolicy: SecurityPolicy.TLS_1_2 });
  stack.addOutputs({ Dns: `${domainName} CNAME ${address.regionalDomainName}` });
  return address;
}
