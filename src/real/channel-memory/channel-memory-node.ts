/** Channel memories in a node's main thread: the channels of its ranks, from each to every memory. */
import { memoryOf, unsaidWordsMax } from "../../core/ft/channel-memory/limits.ts";
import type { ChannelMemoryNodeSetup, MemoryIsAt } from "../../core/ft/channel-memory/shapes.ts";
import type { NodePart, NodePartSetup } from "../part-hosts/node-part.ts";
import { ChannelHost } from "../service-channel/channel-host.ts";
import { ServiceCode } from "../transport/handshake/handshake.ts";
import type { Address } from "../transport/sockets/address.ts";
import type { ChannelMemoryRankSetup } from "./channel-memory-rank.ts";

/** Whole frames are acknowledged, so the largest must have room: a piece of a message, 256 KiB. Several of them, so that a rank and its memory work at the same time. */
const outgoingWords = 1 << 18;
const incomingWords = 1 << 18;

export class ChannelMemoryNode implements NodePart {
  readonly #setup: NodePartSetup;
  readonly #memories: number;
  /** By rank: to each memory, of its present life. */
  readonly #channels = new Map<number, readonly ChannelHost[]>();
  /** By memory; those that are missing are not there yet. */
  readonly #addresses = new Map<number, Address>();

  constructor(setup: NodePartSetup) {
    this.#setup = setup;
    this.#memories = (setup.part as ChannelMemoryNodeSetup).memories;
    this.#open(setup.ranks);
  }

  /** Words that the old life has not handed over are lost. */
  restart(_part: unknown, ranks: readonly number[]): void {
    this.#open(ranks);
  }

  #open(ranks: readonly number[]): void {
    for (const rank of ranks) {
      for (const channel of this.#channels.get(rank) ?? []) channel.close();
      const incarnation = this.#setup.incarnationOf(rank);
      const channels = Array.from({ length: this.#memories }, (_, memory) =>
        this.#newChannel(rank, incarnation, memory),
      );
      this.#channels.set(rank, channels);
    }
  }

  #newChannel(rank: number, incarnation: number, memory: number): ChannelHost {
    const channel = new ChannelHost({
      job: this.#setup.job,
      service: ServiceCode.MEMORY,
      client: rank,
      incarnation,
      threads: 1,
      retention: "until-acknowledged",
      words: outgoingWords,
      incomingWords,
      unsaidWordsMax,
    });
    const address = this.#addresses.get(memory);
    if (address !== undefined) channel.connectTo(address);
    return channel;
  }

  forRank(rank: number): ChannelMemoryRankSetup {
    return { channels: this.#channels.get(rank)!.map((channel) => channel.forThread(0)) };
  }

  said(words: unknown): void {
    const { memory, address } = words as MemoryIsAt;
    this.#addresses.set(memory, address);
    for (const channels of this.#channels.values()) channels[memory]!.connectTo(address);
  }

  relay(): void {
    for (const channels of this.#channels.values()) for (const channel of channels) channel.relay();
  }

  wake(rank: number): void {
    this.#channels.get(rank)?.[memoryOf(rank, this.#memories)]?.wake();
  }

  /** Ranks tell their memories themselves what can be freed. */
  trim(): void {}
}
