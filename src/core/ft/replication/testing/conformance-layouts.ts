/**
 * Replication as the conformance suite runs it: each rank has one process, which takes all messages to others. Worlds in which ranks have
 * several, and deaths, are the simulator's (sim/replication).
 */
import type { NewProtocol } from "../../protocol.ts";
import type { ConformanceLayout, ConformanceProtocols } from "../../testing/protocol-conformance.ts";
import { Membership } from "../membership.ts";
import { ReplicationProtocol } from "../replication-protocol.ts";

class OneReplica implements ConformanceProtocols {
  readonly comeBack = false;
  readonly areCovered = true;
  readonly #plan: readonly number[];
  readonly #protocols: ReplicationProtocol[] = [];

  constructor(ranks: number) {
    this.#plan = new Array<number>(ranks).fill(1);
  }

  make(rank: number): NewProtocol {
    return (ports) => {
      const protocol = new ReplicationProtocol({ rank, replica: 0, membership: new Membership(this.#plan) }, ports);
      this.#protocols[rank] = protocol;
      return protocol;
    };
  }

  dataFor(): unknown {
    return undefined;
  }

  advance(): boolean {
    return false;
  }

  takes(from: number, to: number): boolean {
    return from !== to;
  }

  taken(rank: number): number {
    return this.#protocols[rank]!.report().sent;
  }
}

export const replicationLayouts: readonly ConformanceLayout[] = [
  { name: "one process for each rank", protocols: (ranks) => new OneReplica(ranks) },
];
