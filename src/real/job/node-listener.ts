/** Messages of nodes, and of the ranks in them, handed to the part of the job that each concerns. Decides nothing. */

import { deserialize } from "node:v8";
import { unreachable } from "../../core/base/assert.ts";
import type { ProtocolDefinition } from "../../core/ft/definition.ts";
import type { Dispatcher } from "../../core/service/dispatcher.ts";
import type { Placement } from "../../core/service/placement.ts";
import { build, type FromNode, type FromRankOnwards } from "../messages/node-messages.ts";
import type { JobPartHost } from "../part-hosts/job-part-host.ts";
import type { TcpEvent } from "../transport/tcp/tcp-host.ts";
import type { JobClones } from "./clones/job-clones.ts";
import type { InputSource } from "./input-source.ts";
import type { JobFreezing } from "./job-freezing.ts";
import type { JobOutput } from "./job-output.ts";
import type { JobWhereabouts } from "./job-whereabouts.ts";
import type { JobNodes } from "./nodes/job-nodes.ts";
import type { JobVolunteers } from "./nodes/job-volunteers.ts";
import type { JobFaults } from "./recovery/job-faults.ts";
import type { JobRecovery } from "./recovery/job-recovery.ts";
import type { JobRelocation } from "./recovery/job-relocation.ts";
import type { JobWorldCheckpoints } from "./recovery/job-world-checkpoints.ts";
import type { JobReport } from "./report/job-report.ts";
import type { Spawning } from "./spawning.ts";

interface NodeListenerOptions {
  /** The job's own ranks; higher numbers are spawned processes. */
  readonly ranks: number;
  /** Node of each process that there can be. */
  readonly placement: Placement;
  readonly protocol: Pick<ProtocolDefinition, "deaths">;
  /** By rank: how many processes play it; null: one. */
  readonly replicas: readonly number[] | null;
}

/** The parts that messages go to. */
interface NodeListenerParts {
  readonly core: Pick<Dispatcher, "outcome" | "state" | "unusable" | "aborted" | "rankEnded" | "rankDone" | "falls">;
  readonly nodes: Pick<JobNodes, "ready" | "returned" | "send" | "processOf">;
  /** Null: nodes cannot join. */
  readonly volunteers: Pick<JobVolunteers, "leaving" | "isDispensable"> | null;
  readonly output: Pick<JobOutput, "acceptFrom">;
  readonly input: Pick<InputSource, "want" | "captured" | "lost">;
  readonly spawning: Pick<Spawning, "asked" | "ready">;
  readonly freezing: Pick<JobFreezing, "stopped" | "image" | "died">;
  readonly recovery: JobRecovery | null;
  readonly clones: JobClones | null;
  readonly worlds: JobWorldCheckpoints | null;
  readonly relocation: Pick<JobRelocation, "begin"> | null;
  /** Null: the protocol has none for the job. */
  readonly protocolPart: Pick<JobPartHost, "part"> | null;
  readonly faults: JobFaults | null;
  readonly whereabouts: Pick<JobWhereabouts, "heard" | "answered">;
  /** Gets the ranks whose programs have ended without MPI_Finalize. */
  readonly unfinalized: Set<number>;
  readonly report: Pick<JobReport, "note" | "rankEnded" | "names">;
  /** Every rank of the job has begun to run its program. */
  allBegan(): void;
}

/** Of a name that a program has used, in a note. */
const nameCharactersMax = 300;

export class NodeListener {
  readonly #options: NodeListenerOptions;
  readonly #parts: NodeListenerParts;
  readonly #ranksBegun = new Set<number>();
  /** Of ranks' protocols, as far as they have come to their end. */
  readonly #reports: unknown[] = [];
  /** Of each node, as it said last. */
  readonly #packets = new Map<number, number>();
  /** By rank. */
  readonly #results = new Map<number, unknown>();
  #hasToldOfLinks = false;

  constructor(options: NodeListenerOptions, parts: NodeListenerParts) {
    this.#options = options;
    this.#parts = parts;
  }

  /** Packets inside the nodes that live. */
  get packets(): number {
    return [...this.#packets.values()].reduce((sum, packets) => sum + packets, 0);
  }

  /** The value that rank 0 gave to `mpi.result`, if any; where deaths are survived, the first rank that lives and gave one. */
  get result(): unknown {
    const { ranks } = this.#parts.core.state;
    const [first] = [...this.#results.keys()].filter((rank) => ranks[rank]!.state !== "dead").sort((a, b) => a - b);
    return this.#results.get(first ?? 0);
  }

  /** The dispatcher has declared a death. */
  died(rank: number): void {
    const { freezing, input } = this.#parts;
    const { deaths } = this.#options.protocol;
    if (deaths !== "survived" && deaths !== "covered") return;
    input.lost(rank);
    freezing.died(rank);
    this.#begins(rank);
  }

  get reports(): readonly unknown[] {
    return Array.from({ length: this.#options.ranks }, (_, rank) => this.#reports[rank]);
  }

  said(node: number, message: FromNode): void {
    const { core, nodes, output, spawning, report, faults, whereabouts, protocolPart } = this.#parts;
    switch (message.kind) {
      case "ready":
        if (message.build === build) {
          nodes.ready(node, message.address);
          this.#parts.clones?.nodeReady(node);
        } else this.#unusable(`Cannot use node ${node}: it is Banyan ${message.build}, this is ${build}; build again`);
        break;
      case "unable":
        if (this.#parts.volunteers?.isDispensable(node, message.why) !== true)
          this.#unusable(`Cannot use node ${node}: ${message.why}`);
        break;
      case "connections":
        this.#connectionNews(message.event);
        break;
      case "heartbeat":
        for (const { rank, calls } of message.passed) core.falls.passed(rank, calls);
        whereabouts.heard(node, message.over);
        this.#packets.set(node, message.packets);
        this.#parts.clones?.uses(message.usedMb);
        break;
      case "whereabouts":
        whereabouts.answered(node, message.number, message.places);
        break;
      case "bye":
        break;
      case "ranks-ready":
        spawning.ready(node, message.order, message.problem);
        break;
      case "rank-started":
        this.#rankBegan(message.rank, message.incarnation);
        break;
      case "output": {
        const { chunk } = message;
        const player = { process: message.rank, rank: report.names.rankOf(message.rank) };
        const written = () => nodes.send(node, { kind: "written", bytes: chunk.bytes.length });
        output.acceptFrom(player, chunk, written);
        break;
      }
      case "rank-ended":
        if (message.ending.kind === "returned" || message.ending.kind === "finalized") {
          report.rankEnded(message.rank, node);
          this.#rankFinished(message.rank);
        }
        core.rankEnded(message.rank, message.incarnation, message.ending, performance.now());
        faults?.rankEnded(message.rank);
        break;
      case "ranks-returned":
        nodes.returned(message.ranks);
        break;
      case "leaving":
        this.#leaving(node);
        break;
      case "clone":
        this.#parts.clones?.cloneNews(message.rank, message.number, message.news);
        break;
      case "from-rank":
        this.#rankSaid(message);
        break;
      case "protocol":
        protocolPart?.part.nodeSaid?.(node, message.words);
        break;
      default:
        unreachable(message);
    }
  }

  #rankSaid({ rank, message }: FromRankOnwards): void {
    const { core, input, spawning, freezing, recovery, clones, worlds, faults, protocolPart } = this.#parts;
    switch (message.kind) {
      case "abort":
        core.aborted(rank, message, performance.now());
        break;
      case "result":
        if (this.#plays0(rank) || this.#hasHeirs(rank)) this.#setResult(rank, message.value);
        break;
      case "spawn":
        void spawning.asked(rank, message.request);
        break;
      case "input-wanted":
        if (!this.#mayRead(rank) || !input.want(rank, message.offset))
          this.#cut(rank, "it wants standard input that it cannot want");
        break;
      case "stopped":
        if (message.number === 0) freezing.stopped(rank);
        else {
          recovery?.stopped(rank, message.number);
          clones?.stopped(rank);
        }
        break;
      case "image":
        if (message.number === 0) freezing.image(rank, message.problem);
        else {
          if (rank === 0) input.captured(message.number, message.inputOffset);
          recovery?.image(rank, message);
          clones?.image(rank, message);
          worlds?.image(rank, message);
        }
        break;
      case "captured":
        recovery?.captured(rank, message);
        clones?.captured(rank, message);
        break;
      case "stands-still":
        faults?.standsStill(rank, message.call);
        break;
      case "done":
        this.#rankFinished(rank);
        recovery?.caughtUp(rank, message.incarnation);
        core.falls.caughtUp(rank);
        core.rankDone(rank, message.incarnation, performance.now());
        clones?.finished(rank);
        worlds?.ended(rank);
        break;
      case "leads-out":
        this.#leadsOut(message.path, message.target);
        break;
      case "protocol":
        protocolPart?.part.rankSaid(rank, message.words);
        break;
      case "report":
        this.#reports[rank] = message.report;
        break;
      case "unfinalized":
        this.#parts.unfinalized.add(rank);
        break;
      case "checkpoint-wanted":
        recovery?.checkpointWanted(rank, message.incarnation);
        clones?.checkpointWanted(rank);
        break;
      case "caught-up":
        recovery?.caughtUp(rank, message.incarnation);
        clones?.caughtUp(rank, message.incarnation);
        core.falls.caughtUp(rank);
        break;
      case "image-unreadable":
        // Another rank of the set has found the same, and it was the last image that there was: that has been said.
        if (core.outcome !== undefined) break;
        recovery?.imageUnreadable(rank, message.checkpoint, message.problem);
        clones?.imageUnreadable(rank, message.checkpoint, message.problem);
        break;
      default:
        unreachable(message);
    }
  }

  #leaving(node: number): void {
    const { volunteers, clones, recovery, relocation } = this.#parts;
    void volunteers?.leaving(node);
    // Where nodes join and leave, that has saved what can be saved.
    const drainer = clones ?? (volunteers === null ? recovery : null);
    const obstacle = drainer?.drain(node) ?? relocation?.begin({ moved: { kind: "node", node }, onto: null }) ?? "";
    if (obstacle !== "") this.#parts.report.note(`Cannot drain node ${node}: ${obstacle}`);
  }

  /** Is it rank 0, or one of the processes that play it? */
  #plays0(process: number): boolean {
    return this.#parts.report.names.rankOf(process) === 0;
  }

  /** Does what belongs to rank 0 become that rank's, where all before it die? */
  #hasHeirs(rank: number): boolean {
    return this.#options.protocol.deaths === "survived" && rank < this.#options.ranks;
  }

  /** A rank reads when all before it are dead; it has heard so from here. */
  #mayRead(rank: number): boolean {
    const { ranks } = this.#parts.core.state;
    return this.#plays0(rank) || (this.#hasHeirs(rank) && ranks.slice(0, rank).every(({ state }) => state === "dead"));
  }

  #setResult(rank: number, value: Uint8Array): void {
    try {
      this.#results.set(rank, deserialize(value));
    } catch {
      this.#cut(rank, "the result of its program is no value");
    }
  }

  /** The node of that rank has said what no node says: it counts as lost. */
  #cut(rank: number, why: string): void {
    this.#parts.nodes.processOf(this.#options.placement[rank]!).cut(why);
  }

  #connectionNews(event: TcpEvent): void {
    const { report, nodes } = this.#parts;
    const { names } = report;
    switch (event.kind) {
      case "stranger":
        // Dropped at the door: strangers at a port of this machine are not the job's business.
        break;
      case "unreachable": {
        const { from, to, forMs, reason } = event;
        report.note(
          `Cannot connect ${names.nameOf(from)} to ${names.nameOf(to)} for ${(forMs / 1000).toFixed(0)} s now: ${reason}; still trying`,
        );
        break;
      }
      case "bad-frame": {
        const { from, to, reason } = event;
        const what = `what ${names.nameOf(to)} sends to ${names.nameOf(from)} is not a packet: ${reason}`;
        // A node that makes nonsense, connection after connection, is as good as lost; where such a loss can be survived, it is.
        if (this.#options.protocol.deaths === "fatal") this.#unusable(`Cannot go on: ${what}`);
        else {
          report.note(`${what}; its node is given up`);
          nodes.processOf(this.#options.placement[to]!).kill();
        }
        break;
      }
      default:
        unreachable(event);
    }
  }

  /** Said once: a reader of the program's own message may not think of a link. Names may hold anything. */
  #leadsOut(path: string, target: string): void {
    if (this.#hasToldOfLinks) return;
    this.#hasToldOfLinks = true;
    const [from, to] = [path, target].map((each) => JSON.stringify(each.slice(0, nameCharactersMax)));
    this.#parts.report.note(
      `Cannot follow ${from}: it leads to ${to}, which is in no folder that the program is given; if it may go there, give that with --dir`,
    );
  }

  #rankBegan(rank: number, incarnation: number): void {
    if (rank < this.#options.ranks) this.#parts.recovery?.began(rank, incarnation);
    this.#parts.clones?.began(rank, incarnation);
    this.#begins(rank);
  }

  /** Neither spawned ones nor second lives count. Nobody waits for the beginning of a rank that is dead and does not return. */
  #begins(rank: number): void {
    const { ranks } = this.#options;
    if (rank >= ranks || this.#ranksBegun.has(rank)) return;
    this.#ranksBegun.add(rank);
    if (this.#ranksBegun.size === ranks) this.#parts.allBegan();
  }

  /** Its program is over. For the fault plan: the job may go on. */
  #rankFinished(rank: number): void {
    if (rank < this.#options.ranks) void this.#parts.faults?.happened({ kind: "finished", rank });
  }

  #unusable(message: string): void {
    this.#parts.core.unusable(message, performance.now());
  }
}
