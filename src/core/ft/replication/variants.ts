/** The protocol of a process under replication, by the variant that was asked for. */
import type { ProtocolPorts } from "../protocol.ts";
import { LeaderProtocol } from "./leading/leader-protocol.ts";
import { MirrorProtocol } from "./mirror-protocol.ts";
import type { ReplicationVariant } from "./options.ts";
import { type ReplicationOptions, ReplicationProtocol } from "./replication-protocol.ts";

export function replicaOfVariant(
  variant: ReplicationVariant,
  options: ReplicationOptions,
  ports: ProtocolPorts,
): ReplicationProtocol {
  switch (variant) {
    case "parallel":
      return new ReplicationProtocol(options, ports);
    case "mirror":
      return new MirrorProtocol(options, ports);
    case "leader":
      return new LeaderProtocol(options, ports);
  }
}
