/**
 * Replication as the conformance suite runs it: each rank has one process, which takes all messages to others, or several, of which one
 * dies. Random programs and deaths are the simulator's (sim/replication).
 */
import type { NewProtocol } from "../../protocol.ts";
import type { ConformanceLayout, ConformanceProtocols } from "../../testing/protocol-conformance.ts";
import { Membership } from "../membership.ts";
import { ReplicationProtocol } from "../replication-protocol.ts";

type MakeProtocol = (...all: ConstructorParameters<typeof ReplicationProtocol>) => ReplicationProtocol;

class Replicas implements ConformanceProtocols {
  readonly comeBack = false;
  readonly areCovered = true;
  readonly replicas: number;
  readonly #plan: readonly number[];
  readonly #newProtocol: MakeProtocol;
  /** Of the first process of each rank. */
  readonly #protocols: ReplicationProtocol[] = [];
  readonly #memberships: Membership[] = [];

  constructor(ranks: number, replicas: number, newProtocol: MakeProtocol) {
    this.replicas = replicas;
    this.#plan = new Array<number>(ranks).fill(replicas);
    this.#newProtocol = newProtocol;
  }

  make(rank: number, replica: number): NewProtocol {
    return (ports) => {
      const membership = new Membership(this.#plan);
      const protocol = this.#newProtocol({ rank, replica, membership }, ports);
      this.#memberships.push(membership);
      if (replica === 0) this.#protocols[rank] = protocol;
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

  taken(rank: number): number | null {
    const isWhole = this.#memberships.every((each) => this.#plan.every((_, other) => each.deadOf(other) === 0));
    return isWhole ? this.#protocols[rank]!.report().sent : null;
  }
}

const parallel: MakeProtocol = (...all) => new ReplicationProtocol(...all);

export const replicationLayouts: readonly ConformanceLayout[] = [
  { name: "one process for each rank", protocols: (ranks) => new Replicas(ranks, 1, parallel) },
  { name: "two processes for each rank", protocols: (ranks) => new Replicas(ranks, 2, parallel) },
  { name: "three processes for each rank", protocols: (ranks) => new Replicas(ranks, 3, parallel) },
];
