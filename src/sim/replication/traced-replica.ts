/** A replica that writes down what it says to processes of other ranks: "1.0" is replica 0 of rank 1. */
import type { ProtocolPorts } from "../../core/ft/protocol.ts";
import { type ReplicationOptions, ReplicationProtocol } from "../../core/ft/replication/replication-protocol.ts";
import { isNotice, noticeOf } from "../../core/ft/replication/world-notices.ts";
import { type Told, Went } from "../../core/request/decisions.ts";

/** "has … for" is an acknowledgement. */
function wordText({ a, b = 0 }: Told): string {
  if (!isNotice(a)) return `has #${b} for`;
  const { first, count } = noticeOf(a, b);
  return `has sent ${count === 0 ? "all before " : ""}#${first} where nobody takes it, says it to`;
}

export function tracedReplica(
  options: ReplicationOptions,
  ports: ProtocolPorts,
  write: (line: string) => void,
): ReplicationProtocol {
  const own = `${options.rank}.${options.replica}`;
  const watched = Object.create(ports) as ProtocolPorts;
  watched.transmit = (message, keeper) => {
    const went = ports.transmit(message, keeper);
    if (went !== Went.NOWHERE) write(`${own} sends #${message.sequence} to ${message.dest}.${message.replica}`);
    return went;
  };
  watched.tell = (to, told) => {
    // What replicas of a rank tell each other of their own sends is no part of the algorithm.
    if (to.rank !== options.rank) write(`${own} ${wordText(told)} ${to.rank}.${to.replica}`);
    ports.tell(to, told);
  };
  watched.peerLost = (name, incarnation) => {
    write(`${own} hears of the death of ${name.rank}.${name.replica}`);
    ports.peerLost(name, incarnation);
  };
  return new ReplicationProtocol(options, watched);
}
