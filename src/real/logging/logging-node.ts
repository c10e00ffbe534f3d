/** Message logging in a node's main thread: the streams of determinants of the sets that are here. */
import { join } from "node:path";
import type { LoggerIsAt, LoggingNodeSetup } from "../../core/ft/logging/shapes.ts";
import type { NodePart, NodePartSetup } from "../part-hosts/node-part.ts";
import { ChannelHost } from "../service-channel/channel-host.ts";
import { ServiceCode } from "../transport/handshake/handshake.ts";
import type { Address } from "../transport/sockets/address.ts";
import type { LoggingRankSetup } from "./logging-rank.ts";

/** One life of a set. */
interface SetHere {
  readonly ranks: readonly number[];
  readonly stream: ChannelHost;
}

export class LoggingNode implements NodePart {
  readonly #setup: NodePartSetup;
  #part: LoggingNodeSetup;
  readonly #sets = new Map<number, SetHere>();
  /** Of the event logger; null: there is none yet. */
  #address: Address | null = null;

  constructor(setup: NodePartSetup) {
    this.#setup = setup;
    this.#part = setup.part as LoggingNodeSetup;
    this.#open(setup.ranks);
  }

  /** Words that the old life has not handed over are lost. */
  restart(part: unknown, ranks: readonly number[]): void {
    this.#part = part as LoggingNodeSetup;
    this.#open(ranks);
  }

  #open(ranks: readonly number[]): void {
    const { setOf, job, incarnationOf } = this.#setup;
    for (const set of new Set(ranks.map((rank) => setOf[rank]!))) {
      this.#sets.get(set)?.stream.close();
      const members = ranks.filter((rank) => setOf[rank] === set);
      const incarnation = incarnationOf(members[0]!);
      const known = this.#part.streams.find((stream) => stream.set === set);
      const { from, words } = known ?? { from: 0, words: new Int32Array(0) };
      const stream = new ChannelHost({
        job,
        service: ServiceCode.LOGGER,
        client: set,
        incarnation,
        threads: members.length,
        retention: "until-trimmed",
        from,
        known: words,
      });
      this.#sets.set(set, { ranks: members, stream });
      if (this.#address !== null) stream.connectTo(this.#address);
    }
  }

  forRank(rank: number): LoggingRankSetup {
    const { ranks, stream } = this.#sets.get(this.#setup.setOf[rank]!)!;
    const { logBytesMax } = this.#part;
    const spillFolder = join(this.#setup.folder, "spilled");
    return { stream: stream.forThread(ranks.indexOf(rank)), logBytesMax, spillFolder };
  }

  said(words: unknown): void {
    this.#address = (words as LoggerIsAt).logger;
    for (const { stream } of this.#sets.values()) stream.connectTo(this.#address);
  }

  relay(): void {
    for (const { stream } of this.#sets.values()) stream.relay();
  }

  look(): void {
    this.relay();
  }

  trim(set: number, position: number): void {
    this.#sets.get(set)?.stream.trim(position);
  }
}
