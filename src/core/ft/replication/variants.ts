/** The protocol of a process under replication, by the variant that was asked for. */
import type { ProtocolPorts } from "../protocol.ts";
import { MirrorProtocol } from "./mirror-protocol.ts";
import type { ReplicationVariant } from "./options.ts";
import { type ReplicationOptions, ReplicationProtocol } from "./replication-protocol.ts";

export function replicaOfVariant(
  variant: ReplicationVariant,
  options: ReplicationOptions,
  ports: ProtocolPorts,
): ReplicationProtocol {
  return variant === "mirror" ? new MirrorProtocol(options, ports) : new ReplicationProtocol(options, ports);
}
