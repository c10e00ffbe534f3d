/**
 * `Transport` between the processes of one node: an inbound ring for each in the node's shared memory, many producers by
 * compare-and-exchange, one consumer (node.wat; layout.ts shows where things are).
 *
 * Packets are written and read in place. Payloads up to 96 bytes lie in the slot, of which the first 32 share the header's
 * cache line; larger ones in the slot's eager buffer. The head is published every slots / 4 packets. Messages above the
 * eager limit are copied once from memory to memory, by both sides together when they are large, or pipelined through the
 * sender's stages when they lie in ordinary arrays.
 *
 * Rule 11 (a copy from another process's memory counts only if that process still lives the same life): `fetch` and
 * `fetched` compare the peer's status word with the life we last knew, after the copy. If it has changed they say "not
 * there", and say so for ever: the engine, which treats this like bytes still under way, hears of the death as always and
 * calls `unfetch`. `peerReturned` tells of a peer's new life: copies under way with the old one are forgotten. Packets of
 * the old life that are in our ring, and those that we sent to it after its successor's birth, are the engines' to drop:
 * they come before the first word that the two lives say to each other.
 *
 * Programs whose buffers are not in the node's memory got each other's memories when they started: a new life has a new
 * one of which its neighbours know nothing, and shares with none of them. Their messages go in pieces.
 *
 * Nothing is allocated for a packet; all fields are integers or bound functions, one hidden class.
 */
import { assert } from "../../core/base/assert.ts";
import type { Pointer } from "../../core/base/brand.ts";
import type { Identity } from "../../core/base/identity.ts";
import {
  BYTES,
  CONTEXT,
  EXTRA,
  KIND,
  PAYLOAD,
  PacketKind,
  SEQUENCE,
  type Sender,
  senderOf,
  TAG,
} from "../../core/wire/packet.ts";
import type { Transport } from "../../core/wire/transport.ts";
import { JointCopies } from "./joint-copies.ts";
import { Bell, inlineBytesMax, Line, RankStatus, Ring, ringOf, slotBytes } from "./layout.ts";
import type { NodeCalls, NodeMemory } from "./node-memory.ts";
import type { ProcessBuffers } from "./process-buffers.ts";
import type { RankMemory } from "./rank-memory.ts";
import { releaseStage, Stages } from "./stages.ts";

interface RingTransportOptions {
  /** Number of this process: its rank, where ranks have one process each. */
  readonly rank: number;
  /** As whom it speaks: as the only replica of the rank with that number, in its first life, unless given. */
  readonly identity?: Identity;
  /** Index in the node of each process, −1 for those elsewhere. */
  readonly places: Int32Array;
  /** The program's, when they are not in the node's memory. */
  readonly buffers?: ProcessBuffers;
  /** Wakes a process that sleeps in `poll` instead of on its bell. */
  readonly wakeElsewhere?: (process: number) => void;
  /** Copies of at least this size are joint. `Infinity` when there are more ranks than cores: the helper would not be running. */
  readonly jointBytesMin?: number;
  readonly jointChunkBytes?: number;
  readonly stages?: number;
  readonly stageBytes?: number;
  /** The word that holds the position of the next packet, where another reader of the ring has to know it. */
  readonly cursor?: Int32Array | undefined;
}

const none = () => {};

export class RingTransport implements Transport {
  readonly words: Int32Array;
  readonly payloadBytesMax: number;
  readonly #node: NodeMemory;
  /** Where the transport's own blocks of the node's memory come from. */
  readonly #memory: RankMemory;
  readonly #buffers: ProcessBuffers;
  readonly #calls: NodeCalls;
  readonly #callReserve: NodeCalls["reserve"];
  readonly #callCommit: NodeCalls["commit"];
  readonly #callOpen: NodeCalls["open"];
  readonly #rank: number;
  /** The sender in every packet of this process. */
  readonly #source: number;
  readonly #bits: number;
  readonly #process: number;
  readonly #places: Int32Array;
  readonly #wakeElsewhere: (process: number) => void;
  readonly #eagerBytes: number;
  readonly #rings: number;
  readonly #ringStride: number;
  readonly #lines: number;
  readonly #eager: number;
  readonly #eagerStride: number;
  readonly #heap: number;

  /** The slot reserved last. */
  #reserved = 0;
  payload = 0;
  /** The destination of packets to the dead: a slot and a payload that are never read. Made when first needed. */
  #dustbin = 0;

  /** Our own ring: position and first word of the next packet, whether `peek` has seen it. */
  readonly #ring: number;
  readonly #firstWord: number;
  readonly #slotMask: number;
  readonly #publishMask: number;
  #position: number;
  #word: number;
  #ready = false;
  /** Where another reader of the ring has the position, which moves between calls then; null: there is none. */
  readonly #cursor: Int32Array | null;
  /** Packets in front that were for an earlier life of this process. */
  #deafLeft: number;

  /** A second word that `spin` looks at, and the value awaited there: the gate of a board. 0: none. */
  #watched = 0;
  #watchedValue = 0;

  readonly #lives: Int32Array;
  /** By rank: 1 when both can reach each other's buffers. */
  readonly #shares: Uint8Array;
  readonly #stages: Stages;
  readonly #joint: JointCopies;
  readonly #jointBytesMin: number;
  readonly #jointChunkBytes: number;

  constructor(node: NodeMemory, memory: RankMemory, options: RingTransportOptions) {
    const { layout, words, calls, process } = node;
    const { rank, places, wakeElsewhere = none } = options;
    const sender = senderOf(options.identity ?? { rank, replica: 0, incarnation: 0 });
    const { jointBytesMin = 128 * 1024, jointChunkBytes = 64 * 1024, stages = 4, stageBytes = 64 * 1024 } = options;
    assert(places[rank] === process, "a process's own rank has its own place in the node");
    this.words = words;
    this.payloadBytesMax = layout.eagerBytes;
    this.#node = node;
    this.#memory = memory;
    this.#buffers = options.buffers ?? memory;
    this.#calls = calls;
    this.#callReserve = calls.reserve;
    this.#callCommit = calls.commit;
    this.#callOpen = calls.open;
    this.#rank = rank;
    this.#source = sender.rank;
    this.#bits = sender.bits;
    this.#process = process;
    this.#places = places;
    this.#wakeElsewhere = wakeElsewhere;
    this.#eagerBytes = layout.eagerBytes;
    this.#rings = layout.rings;
    this.#ringStride = layout.ringStride;
    this.#lines = layout.lines;
    this.#eager = layout.eager;
    this.#eagerStride = layout.slots * layout.eagerBytes;
    this.#heap = layout.heap;
    this.#ring = ringOf(layout, process);
    this.#firstWord = (this.#ring + Ring.SLOTS) >> 2;
    this.#slotMask = layout.slots - 1;
    this.#publishMask = (layout.slots >> 2) - 1;
    this.#position = calls.load(this.#ring + Ring.HEAD);
    this.#word = this.#wordOf(this.#position);
    this.#deafLeft = (calls.load(this.#ring + Ring.DEAF_UNTIL) - this.#position) | 0;
    this.#cursor = options.cursor ?? null;
    if (this.#cursor !== null) this.#cursor[0] = this.#position;
    this.#lives = Int32Array.from(places, (place) =>
      place < 0 ? 0 : calls.load(this.#lineOf(place) + Line.STATUS) >> 8,
    );
    this.#shares = Uint8Array.from(places, (_, peer) => (this.#reaches(peer) ? 1 : 0));
    this.#stages = new Stages(node, memory, { stages, stageBytes });
    this.#joint = new JointCopies(node, memory);
    this.#jointBytesMin = jointBytesMin;
    this.#jointChunkBytes = jointChunkBytes;
  }

  eagerBytesMax(_to: number): number {
    return this.#eagerBytes;
  }

  reserve(to: number, payloadBytes: number): number {
    const process = this.#places[to]!;
    const ring = this.#rings + process * this.#ringStride;
    let slot = this.#callReserve(ring);
    if (slot === 0) {
      slot = this.#reserveInFull(process, ring);
      if (slot === 0) return -1;
    }
    this.#reserved = slot;
    if (payloadBytes <= inlineBytesMax) this.payload = payloadBytes === 0 ? 0 : slot + (slotBytes - inlineBytesMax);
    else this.payload = this.#eagerBufferOf(process, slot, ring);
    return slot >> 2;
  }

  commit(to: number, as?: Sender): void {
    const slot = this.#reserved;
    if (slot === this.#dustbin) return;
    const process = this.#places[to]!;
    let source = this.#source;
    let bits = this.#bits;
    if (as !== undefined) {
      source = as.rank;
      bits = as.bits;
    }
    if (bits !== 0) this.words[(slot >> 2) + KIND]! |= bits;
    const said = this.#callCommit(slot, this.#lines + process * Line.BYTES, source, this.payload);
    if (said === Bell.PARKED_ELSEWHERE) this.#wakeElsewhere(process);
  }

  peek(): number {
    if (this.#cursor !== null) this.#follow(this.#cursor[0]!);
    if (this.#ready) return this.#word;
    for (;;) {
      const word = this.#word;
      // A plain look costs 1 ns, but only an atomic one orders the reads of the packet after it.
      if (this.words[word] !== ((this.#position + 1) | 0)) return -1;
      this.#callOpen(word << 2);
      if ((this.words[word + KIND]! & 0xff) !== PacketKind.VOID && this.#deafLeft === 0) {
        this.#ready = true;
        return word;
      }
      if (this.#deafLeft !== 0) this.#deafLeft--;
      this.release();
    }
  }

  release(): void {
    const word = this.#word;
    const isFragment = (this.words[word + KIND]! & 0xff) === PacketKind.FRAGMENT;
    if (isFragment && this.words[word + PAYLOAD]! >= this.#heap) {
      releaseStage(this.#calls, this.words[word + PAYLOAD]!, this.words[word + SEQUENCE]!);
      if (this.#calls.anyWaiter(this.#ring) === 1) this.wakeWaiters();
    }
    const position = (this.#position + 1) | 0;
    this.#position = position;
    this.#word = this.#wordOf(position);
    this.#ready = false;
    if (this.#cursor !== null) this.#cursor[0] = position;
    if ((position & this.#publishMask) === 0 && this.#calls.publish(this.#ring, position) === 1) this.wakeWaiters();
  }

  /** The other reader may have taken packets since `peek`. */
  #follow(position: number): void {
    if (position === this.#position) return;
    this.#position = position;
    this.#word = this.#wordOf(position);
    this.#ready = false;
  }

  shares(peer: number): boolean {
    return this.#shares[peer] === 1;
  }

  /** Do the two know each other's buffers? Both sides come to the same. */
  #reaches(peer: number): boolean {
    if (this.#places[peer]! < 0) return false;
    if (this.#buffers.areInNode || peer === this.#rank) return true;
    return this.#livesOf(this.#process) <= 1 && this.#livesOf(this.#places[peer]!) <= 1;
  }

  #livesOf(process: number): number {
    return this.#calls.load(this.#lineOf(process) + Line.LIVES);
  }

  push(to: number, receive: number, from: number, offset: number, bytes: number, as?: Sender): number {
    return bytes <= this.#eagerBytes
      ? this.#pushInSlot(to, receive, from, offset, bytes, as)
      : this.#pushInStage(to, receive, from, offset, bytes, as);
  }

  fetch(peer: number, receive: number, send: number, to: number, peerPointer: number, bytes: number): boolean {
    if (bytes >= this.#jointBytesMin && to >= 0 && peer !== this.#rank) {
      const work = this.#joint.start(receive, peer, this.#places[peer]!, bytes);
      if (work >= 0) {
        if (this.#askForHelp(work, peer, send, to, bytes)) {
          this.#fetchJointly(work, this.#places[peer]!, to, peerPointer, bytes);
          return this.fetched(receive);
        }
        this.#joint.end(work);
      }
    }
    this.copyFrom(this.#places[peer]!, to as Pointer, 0, peerPointer, bytes);
    return this.#livesOn(peer);
  }

  /** The receiver's part of a joint copy. */
  #fetchJointly(work: number, process: number, to: number, peerPointer: number, bytes: number): void {
    const [calls, buffers, chunk] = [this.#calls, this.#buffers, this.#jointChunkBytes];
    const address = this.#joint.addressOf(work);
    const generation = this.#joint.generationOf(work);
    if (buffers.areInNode) {
      calls.copyJointly(address, generation, to, peerPointer, bytes, chunk);
      return;
    }
    this.#eachChunk(address, generation, bytes, (offset, length) =>
      buffers.fetchFrom(process, to as Pointer, offset, peerPointer + offset, length),
    );
  }

  /** Claims chunks of a joint copy and copies them, until none is left. */
  #eachChunk(work: number, generation: number, bytes: number, copy: (offset: number, length: number) => void): void {
    const [calls, chunk] = [this.#calls, this.#jointChunkBytes];
    const claim = (): number => calls.claimJointly(work, generation, bytes, chunk);
    for (let offset = claim(); offset >= 0; offset = claim()) {
      const length = Math.min(chunk, bytes - offset);
      copy(offset, length);
      calls.doneJointly(work, length);
    }
  }

  fetched(receive: number): boolean {
    const work = this.#joint.find(receive);
    if (work < 0 || !this.#joint.isDone(work) || !this.#livesOn(this.#joint.peerOf(work))) return false;
    this.#joint.end(work);
    return true;
  }

  unfetch(receive: number): void {
    const work = this.#joint.find(receive);
    if (work >= 0) this.#joint.forget(work);
  }

  help(peer: number, packet: number, from: number): void {
    const words = this.words;
    const process = this.#places[peer]!;
    const [work, generation] = [words[packet + EXTRA]!, words[packet + EXTRA + 1]!];
    const [to, bytes] = [words[packet + TAG]!, words[packet + BYTES]!];
    const buffers = this.#buffers;
    if (buffers.areInNode) this.#calls.copyJointly(work, generation, to, from, bytes, this.#jointChunkBytes);
    else {
      this.#eachChunk(work, generation, bytes, (offset, length) =>
        buffers.putTo(process, to + offset, (from + offset) as Pointer, length),
      );
    }
    this.ring(process);
  }

  put(peer: number, peerPointer: number, from: number, bytes: number): void {
    this.#buffers.putTo(this.#places[peer]!, peerPointer, from as Pointer, bytes);
  }

  // Beyond `Transport`: for the process's waiting, its boards and news of deaths.

  get buffersAreInNode(): boolean {
    return this.#buffers.areInNode;
  }

  /** From a buffer of that process of the node, which leaves it as it is meanwhile. */
  copyFrom(process: number, to: Pointer, toOffset: number, peerPointer: number, bytes: number): void {
    this.#buffers.fetchFrom(process, to, toOffset, peerPointer, bytes);
  }

  /** Looks at the next slot (and the watched word) up to that many times in one call, 1.4 ns a look. True: something is there. */
  spin(looks: number): boolean {
    if (this.#cursor !== null) this.#follow(this.#cursor[0]!);
    const address = this.#word << 2;
    const stamp = (this.#position + 1) | 0;
    const watched = this.#watched;
    return watched === 0
      ? this.#calls.spin(address, stamp, address, stamp, looks) === 1
      : this.#calls.spin(address, stamp, watched, this.#watchedValue, looks) === 1;
  }

  /** `spin` also ends when that word has that value; address 0 ends the watch. */
  watch(address: number, value: number): void {
    this.#watched = address;
    this.#watchedValue = value;
  }

  /** Wakes that process of the node if it sleeps. */
  ring(process: number): void {
    if (this.#calls.ring(this.#lineOf(process)) === Bell.PARKED_ELSEWHERE) this.#wakeElsewhere(process);
  }

  /** That rank of this node lives again, as that incarnation: from now on copies from that life count. */
  peerReturned(rank: number, incarnation: number): void {
    if (incarnation <= this.#lives[rank]!) return;
    this.#lives[rank] = incarnation;
    this.#shares[rank] = this.#reaches(rank) ? 1 : 0;
    this.#joint.forgetPeer(rank);
  }

  /** The ring is full. If its consumer lives, this process asks to be woken when there is room, and looks once more after that. */
  #reserveInFull(process: number, ring: number): number {
    const status = this.#calls.load(this.#lineOf(process) + Line.STATUS) & 0xff;
    if (status === RankStatus.DEAD || status === RankStatus.FINISHED) {
      if (this.#dustbin === 0) this.#dustbin = this.#memory.allocate(slotBytes + this.#eagerBytes);
      return this.#dustbin;
    }
    this.#calls.awaitRoom(ring, this.#process);
    return this.#callReserve(ring);
  }

  #pushInSlot(to: number, receive: number, from: number, offset: number, bytes: number, as?: Sender): number {
    const word = this.reserve(to, bytes);
    if (word < 0) return 0;
    this.#buffers.toPayload(this.payload, from as Pointer, offset, bytes);
    this.#fragmentHeader(word, receive, offset, bytes);
    this.commit(to, as);
    return bytes;
  }

  #pushInStage(to: number, receive: number, from: number, offset: number, bytes: number, as?: Sender): number {
    const process = this.#places[to]!;
    let stage = this.#stages.find();
    if (stage < 0) {
      this.#stages.awaitAny();
      stage = this.#stages.find();
      if (stage < 0) return 0;
    }
    // Filled before its slot is reserved: an uncommitted slot holds up everybody else's packets behind it.
    const taken = this.#stages.pieceOf(bytes);
    const payload = this.#stages.payloadOf(stage);
    this.#buffers.toPayload(payload, from as Pointer, offset, taken);
    const word = this.reserve(to, 0);
    if (word < 0) return 0;
    this.#fragmentHeader(word, receive, offset, taken);
    this.payload = payload;
    if (this.#reserved !== this.#dustbin) this.words[word + SEQUENCE] = this.#stages.leaves(stage, process);
    this.commit(to, as);
    return taken;
  }

  #fragmentHeader(word: number, receive: number, offset: number, bytes: number): void {
    const words = this.words;
    words[word + KIND] = PacketKind.FRAGMENT;
    words[word + CONTEXT] = receive;
    words[word + TAG] = offset;
    words[word + BYTES] = bytes;
  }

  /** False when the sender's ring is full: then it is busy anyway. */
  #askForHelp(work: number, peer: number, send: number, to: number, bytes: number): boolean {
    const word = this.reserve(peer, 0);
    if (word < 0) return false;
    const words = this.words;
    words[word + KIND] = PacketKind.HELP;
    words[word + CONTEXT] = send;
    words[word + TAG] = to;
    words[word + BYTES] = bytes;
    words[word + EXTRA] = this.#joint.addressOf(work);
    words[word + EXTRA + 1] = this.#joint.generationOf(work);
    this.commit(peer);
    return true;
  }

  /** Is the peer still in the life we know? The finished count: their memory stays as they left it. */
  #livesOn(peer: number): boolean {
    const status = this.#calls.load(this.#lineOf(this.#places[peer]!) + Line.STATUS);
    const state = status & 0xff;
    return (state === RankStatus.ALIVE || state === RankStatus.FINISHED) && status >> 8 === this.#lives[peer];
  }

  /** Wakes those that wait for room in this process's ring. */
  wakeWaiters(): void {
    for (let word = 0; word << 5 < this.#node.layout.producers; word++) {
      let waiters = this.#calls.takeWaiters(this.#ring, word);
      while (waiters !== 0) {
        const bit = 31 - Math.clz32(waiters);
        waiters ^= 1 << bit;
        this.ring((word << 5) + bit);
      }
    }
  }

  #lineOf(process: number): number {
    return this.#lines + process * Line.BYTES;
  }
  #wordOf(position: number): number {
    return this.#firstWord + (position & this.#slotMask) * (slotBytes >> 2);
  }
  #eagerBufferOf(process: number, slot: number, ring: number): number {
    if (slot === this.#dustbin) return slot + slotBytes;
    const index = (slot - ring - Ring.SLOTS) / slotBytes;
    return this.#eager + process * this.#eagerStride + index * this.#eagerBytes;
  }
}
