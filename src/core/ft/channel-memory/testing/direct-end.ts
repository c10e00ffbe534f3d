/** A rank's end of a channel to a memory in the same process: words move when the test says so, and no further. */
import { assert } from "../../../base/assert.ts";
import type { ClientEnd } from "../../../service-channel/channel.ts";
import type { ServiceStreams } from "../../../service-channel/service-clients.ts";
import type { ChannelMemory } from "../memory/channel-memory.ts";

export class DirectEnd implements ClientEnd {
  readonly #client: number;
  readonly #incarnation: number;
  readonly #wordsMax: number;
  /** Words that are not acknowledged, from `stable` on; how many of them the present memory has been given. */
  #unacknowledged: number[] = [];
  #given = 0;
  stable = 0;
  /** Words that have come and were not taken; the position behind them. */
  #come: number[] = [];
  #comeEnd = 0;
  origin = 0;
  isFenced = false;
  #streams: ServiceStreams | null = null;

  /** `wordsMax`: words that are not acknowledged at most. */
  constructor(client: number, incarnation: number, wordsMax = 1 << 16) {
    this.#wordsMax = wordsMax;
    this.#client = client;
    this.#incarnation = incarnation;
  }

  get born(): number {
    return this.stable + this.#unacknowledged.length;
  }

  append(words: Int32Array, from: number, to: number): number {
    const count = Math.min(to - from, this.#wordsMax - this.#unacknowledged.length);
    for (let i = from; i < from + count; i++) this.#unacknowledged.push(words[i]!);
    return count;
  }

  take(into: Int32Array): number {
    const taken = this.#come.splice(0, into.length);
    into.set(taken);
    return taken.length;
  }

  move(): void {}
  ask(): void {}

  /** `origin`: the number of that process. */
  connect(memory: ChannelMemory, origin: number): void {
    const { stable: begin } = this;
    this.#streams = memory.open({ client: this.#client, incarnation: this.#incarnation, begin });
    this.isFenced = this.#streams === null;
    if (this.#streams === null) return;
    const { incoming, outgoing } = this.#streams;
    this.#given = incoming.arrived - this.stable;
    assert(this.#given >= 0 && this.#given <= this.#unacknowledged.length, "a memory wants words that are not there");
    if (origin === this.origin) outgoing.resume(this.#comeEnd);
    else {
      assert(this.#come.length === 0, "words of the process before have been taken");
      outgoing.resumeElsewhere?.(this.#comeEnd);
    }
    this.origin = origin;
  }

  /** All that distinguishes it from another. */
  get digest(): unknown {
    return [this.stable, this.#unacknowledged, this.#given, this.#come, this.#comeEnd, this.origin, this.isFenced];
  }

  /** Have all words that came been taken? */
  get isTaken(): boolean {
    return this.#come.length === 0;
  }

  /** Words that the memory has not been given. */
  get unsent(): number {
    return this.#streams === null ? 0 : this.#unacknowledged.length - this.#given;
  }

  /** Words of the frame that the memory is given next, and of the filler behind it; its first word is their count. */
  get nextFrame(): number {
    const count = this.#unacknowledged[this.#given] ?? 0;
    return count + (count % 2);
  }

  /** Gives the memory so many words; `isSettled`: it stores and acknowledges what it has. False: it does not listen. */
  give(count = this.unsent, isSettled = true): boolean {
    if (this.#streams === null) return false;
    const { incoming } = this.#streams;
    const words = Int32Array.from(this.#unacknowledged.slice(this.#given, this.#given + count));
    if (incoming.receive(words, 0, words.length) < 0) {
      this.isFenced = true;
      this.#streams = null;
      return false;
    }
    this.#given += words.length;
    if (isSettled) this.settle();
    return true;
  }

  settle(): void {
    const incoming = this.#streams!.incoming;
    incoming.settle?.();
    const count = incoming.settled - this.stable;
    this.#unacknowledged.splice(0, count);
    this.#given -= count;
    this.stable = incoming.settled;
  }

  /** Has the memory something to say? */
  get hasNews(): boolean {
    return this.#streams !== null && this.#streams.outgoing.born !== this.#streams.outgoing.sent;
  }

  /** Fetches what the memory has to say, at most so many words: how many there were. */
  fetch(max = 1 << 12): number {
    if (this.#streams === null) return 0;
    const { outgoing } = this.#streams;
    const stage = new Int32Array(max);
    const count = outgoing.send(stage, 0, max);
    for (let i = 0; i < count; i++) this.#come.push(stage[i]!);
    this.#comeEnd += count;
    if (count > 0) outgoing.acknowledge(this.#comeEnd);
    return count;
  }
}
