/** Carries out a fault plan on a job's nodes: signals, links, and the nodes and ranks that were killed and are not gone yet. */
import type { Link } from "../../../core/fault/action.ts";
import type { FaultEvent } from "../../../core/fault/moment.ts";
import type { FaultPlan, Service } from "../../../core/fault/plan.ts";
import type { Living } from "../../../core/fault/schedule.ts";
import type { FaultsFired } from "../../../core/service/job-record.ts";
import { type Placement, ranksOfNode } from "../../../core/service/placement.ts";
import { deferred } from "../../machine/deferred.ts";
import type { Watch } from "../../messages/rank-messages.ts";
import type { NodeProcess } from "../nodes/node-process.ts";
import { FaultScheduleHost } from "./fault-schedule-host.ts";

interface JobFaultsOptions {
  readonly plan: FaultPlan;
  readonly seed: number;
  readonly nodes: number;
  /** Node and set of each rank; no sets: empty. */
  readonly placement: Placement;
  readonly setOf: readonly number[];
  /** How many processes play each rank of the program; absent: one. */
  readonly replicas?: readonly number[] | undefined;
  readonly living: Living;
  /** Of a job that goes on: what had fired; null: nothing. */
  readonly earlier: FaultsFired | null;
}

interface JobFaultsPorts {
  /** Entries have fired: to be written down before this returns. */
  fired(record: FaultsFired): void;
  node(node: number): NodeProcess;
  /** The node is about to fall, and not because of what it does. */
  falls(node: number): void;
  /** Everything on it takes so much longer. */
  delayLink(link: Link, byMs: number): void;
  /** False: it is no process of its own. */
  killService(service: Service): boolean;
  nameOf(rank: number): string;
  note(message: string): void;
}

export class JobFaults {
  readonly #options: JobFaultsOptions;
  readonly #ports: JobFaultsPorts;
  readonly #faults: FaultScheduleHost;
  readonly #cut = new Map<string, Link>();
  /** Another may have taken its place when it is continued. */
  readonly #stopped = new Map<number, NodeProcess>();
  /** Nodes and ranks that were killed and whose end is not known yet. */
  readonly #dyingNodes = new Map<NodeProcess, Promise<void>>();
  readonly #dyingRanks = new Map<number, { readonly gone: Promise<void>; readonly isGone: () => void }>();

  constructor(options: JobFaultsOptions, ports: JobFaultsPorts) {
    this.#options = options;
    this.#ports = ports;
    const { plan, seed, nodes, placement, setOf, replicas, living, earlier } = options;
    const isDying = (node: number): boolean => this.#dyingNodes.has(ports.node(node));
    const notDying: Living = {
      isNodeAlive: (node) => living.isNodeAlive(node) && !isDying(node),
      isRankAlive: (rank) => living.isRankAlive(rank) && !this.#dyingRanks.has(rank) && !isDying(placement[rank]!),
    };
    this.#faults = new FaultScheduleHost(
      { plan, seed, layout: { nodes, placement, setOf, replicas }, living: notDying, earlier },
      {
        fired: (record) => ports.fired(record),
        killNode: (node) => this.#killNode(node),
        killRanks: (ranks) => this.#killRanks(ranks),
        stopNode: (node) => this.#stopNode(node),
        continueNode: (node) => this.#continueNode(node),
        cutLink: (link) => this.#setLink(link, true),
        delayLink: (link, byMs) => this.#delayLink(link, byMs),
        restoreLink: (link) => this.#delayLink(link, 0),
        killService: (service) => ports.killService(service),
        flipBits: (rank, bits, seed) => ports.node(placement[rank]!).send({ kind: "flip-bits", rank, bits, seed }),
        nameOf: (rank) => ports.nameOf(rank),
        goOn: (rank, call) => ports.node(placement[rank]!).send({ kind: "go-on-after", rank, call }),
        note: (message) => ports.note(message),
      },
    );
  }

  /** The moments that ranks have to report in the lives that they are about to begin. */
  watchesOf(ranks: readonly number[]): Watch[] {
    const ofJob = ranks.filter((rank) => rank < this.#options.placement.length);
    return ofJob.map((rank) => this.#faults.watchOf(rank)).filter(({ call, init }) => call > 0 || init);
  }

  /** A node was set up: it must know which links are cut. */
  nodeStarted(node: number): void {
    for (const link of this.#cut.values()) if (link.includes(node)) this.#tellLink(node, link, true);
  }

  /** All ranks have begun. */
  begin(): void {
    this.#faults.begin();
  }

  /** The rank waits for what comes of its call; 0: it is inside MPI_Init. */
  standsStill(rank: number, call: number): void {
    if (call === 0) this.#faults.init(rank);
    else this.#faults.call(rank, call);
  }

  /** Fulfilled when all killed nodes and ranks are known to be gone. */
  async happened(event: FaultEvent): Promise<void> {
    this.#faults.happened(event);
    await Promise.all([...this.#dyingNodes.values(), ...[...this.#dyingRanks.values()].map(({ gone }) => gone)]);
  }

  /** The thread of a rank is gone, and the dispatcher knows. */
  rankEnded(rank: number): void {
    this.#dyingRanks.get(rank)?.isGone();
    this.#dyingRanks.delete(rank);
  }

  end(): void {
    this.#faults.end();
  }

  #killNode(node: number): boolean {
    const victim = this.#ports.node(node);
    this.#ports.falls(node);
    if (!victim.kill()) return false;
    const gone = victim.gone.then(() => {
      this.#dyingNodes.delete(victim);
      for (const rank of ranksOfNode(this.#options.placement, node)) this.rankEnded(rank);
    });
    this.#dyingNodes.set(victim, gone);
    return true;
  }

  #killRanks(ranks: readonly number[]): void {
    const { placement } = this.#options;
    for (const node of new Set(ranks.map((rank) => placement[rank]!))) {
      this.#ports.falls(node);
      const here = ranks.filter((rank) => placement[rank] === node);
      for (const rank of here.filter((it) => this.#options.living.isRankAlive(it))) {
        const { promise: gone, resolve: isGone } = deferred<void>();
        this.#dyingRanks.set(rank, { gone, isGone });
      }
      this.#ports.node(node).send({ kind: "kill-ranks", ranks: here });
    }
  }

  #stopNode(node: number): boolean {
    const it = this.#ports.node(node);
    this.#stopped.set(node, it);
    return it.signal("SIGSTOP");
  }

  #continueNode(node: number): boolean {
    const it = this.#stopped.get(node) ?? this.#ports.node(node);
    this.#stopped.delete(node);
    return it.signal("SIGCONT");
  }

  /** By nothing: the link is as it was. */
  #delayLink(link: Link, byMs: number): void {
    if (this.#cut.has(link.join("-"))) this.#setLink(link, false);
    this.#ports.delayLink(link, byMs);
  }

  #setLink(link: Link, isCut: boolean): void {
    if (isCut) this.#cut.set(link.join("-"), link);
    else this.#cut.delete(link.join("-"));
    for (const node of link) this.#tellLink(node, link, isCut);
  }

  #tellLink(node: number, [one, other]: Link, areCut: boolean): void {
    const ranks = ranksOfNode(this.#options.placement, node === one ? other : one);
    this.#ports.node(node).send({ kind: "links", ranks, areCut });
  }
}
