/**
 * The link of a rank to one rank of another node: two streams (out-stream.ts, in-stream.ts) over the connection that there
 * is. Connections come and go (`attach`, `detach`); the streams go on. Each side opens a connection by saying how far it
 * has read, and sends on from where the other says it is. On the very first connection neither side has read anything, so sending
 * starts at once.
 *
 * A link is with one life of the peer. A new life gets a new link, in the memory of the old one.
 */
import { assert } from "../../../core/base/assert.ts";
import type { Memory } from "../../../core/request/memory.ts";
import { KIND } from "../../../core/wire/packet.ts";
import { CLOSED, type SocketCalls, WOULD_BLOCK } from "../sockets/socket-calls.ts";
import { FrameKind, frameBytes, headerBytes } from "./frame.ts";
import { BAD, InStream, inBufferBytes } from "./in-stream.ts";
import type { LinkSizes } from "./link-sizes.ts";
import { OutStream, receiptEveryBytes } from "./out-stream.ts";

/** Both directions' first bytes on a connection: a salt, the generation, how far the sender has read, its rank. */
const openBytes = 64;
const openSalt = 0x4f70656e;
/** Connections with wrong frames until the peer itself is held to be their cause. */
const mendsMax = 3;

interface LinkOptions {
  readonly rank: number;
  readonly peer: number;
  /** Incarnation of the peer. */
  readonly life: number;
  readonly memory: Memory;
  /** Where the program's buffers are; the same, or not. */
  readonly buffers: Memory;
  readonly words: Int32Array;
  readonly sizes: LinkSizes;
  /** The link with an earlier life of that peer, which is used no more. */
  readonly former: TcpLink | null;
}

export class TcpLink {
  readonly peer: number;
  readonly life: number;
  readonly out: OutStream;
  readonly in: InStream;
  readonly eagerBytesMax: number;
  readonly #rank: number;
  readonly #words: Int32Array;
  readonly #block: number;
  /** Byte offset of our own opening; the peer's is read behind it. */
  readonly #openAt: number;
  readonly #receiptEveryBytes: number;

  fd = -1;
  generation = 0;
  /** How much of the peer's opening has been read on this connection. */
  #openRead = 0;
  /** We know where the peer is. */
  #mayWrite = false;
  /** Some frames could not be sent at once. The next look at the link tries again. */
  blocked = false;
  /** The peer is dead or has finished: everything sent is dropped. */
  swallows = false;
  /** FINISHED is in our stream. */
  saidFinished = false;
  /** The main thread has been asked for a connection. */
  asked = false;
  /** Up to where the peer knows that we have read. */
  #receipt = 0;
  #mends = 0;
  #reservedLength = 0;
  reason = "";

  constructor(options: LinkOptions) {
    const { memory, buffers, words, peer } = options;
    const { eagerBytesMax, outBytes } = options.sizes;
    const inBytes = inBufferBytes(eagerBytesMax);
    const bytes = 2 * openBytes + outBytes + inBytes + headerBytes;
    const block = options.former === null ? memory.allocate(bytes) : options.former.#block;
    const at = Math.ceil(block / headerBytes) * headerBytes;
    this.peer = peer;
    this.eagerBytesMax = eagerBytesMax;
    this.life = options.life;
    this.#block = block;
    this.#rank = options.rank;
    this.#words = words;
    this.#openAt = at;
    this.#receiptEveryBytes = receiptEveryBytes(outBytes, frameBytes(eagerBytesMax));
    assert(this.#receiptEveryBytes > 0, "a link keeps more than two of the largest packets");
    const out = new OutStream({ words, at: at + 2 * openBytes, bytes: outBytes });
    const inAt = at + 2 * openBytes + outBytes;
    this.out = out;
    this.in = new InStream({ words, memory, buffers, at: inAt, bytes: inBytes, eagerBytesMax, out });
  }

  get isOpen(): boolean {
    return this.fd >= 0;
  }

  /** Everything has been said on this connection: frames on the one before may be lost. */
  get hasSaidAll(): boolean {
    return this.#mayWrite && !this.out.unsent;
  }

  // Sending

  reserve(payloadBytes: number): number {
    const packet = this.out.reserve(frameBytes(payloadBytes));
    if (packet < 0) return -1;
    this.#reservedLength = payloadBytes;
    return packet;
  }

  /** The frame is complete; `flush` sends it. */
  commit(): void {
    if (!this.swallows) this.commitFrame(this.#reservedLength);
  }

  commitFrame(length: number, own = false): void {
    this.out.commit(length, this.in.received, own);
    this.#tellsReceived();
  }

  #tellsReceived(): void {
    this.#receipt = this.in.received;
    this.in.receiptDue = false;
  }

  /** 0, WOULD_BLOCK or CLOSED. */
  flush(calls: SocketCalls): number {
    if (!this.#mayWrite) return WOULD_BLOCK;
    const outcome = this.out.flush(calls, this.fd);
    this.blocked = outcome === WOULD_BLOCK;
    return outcome;
  }

  /** A frame of our own, of only a header. False: not even for that is there room now. */
  say(kind: number): boolean {
    const frame = this.out.reserve(headerBytes, true);
    if (frame < 0) return false;
    this.#words[frame + KIND] = kind;
    this.commitFrame(0, true);
    return true;
  }

  /** The peer keeps its frames until it hears that they were read. True: there is something to flush. */
  giveReceipt(): boolean {
    const unknown = (this.in.received - this.#receipt) | 0;
    if (!this.in.receiptDue && (unknown < this.#receiptEveryBytes || this.in.isLanding)) return false;
    return !this.swallows && this.say(FrameKind.RECEIPT);
  }

  // Receiving

  /** Reads once: a number of bytes, WOULD_BLOCK or CLOSED. */
  read(calls: SocketCalls): number {
    return this.#openRead < openBytes ? this.#readOpening(calls) : this.in.read(calls, this.fd);
  }

  /** First word of the oldest whole packet, NOTHING or BAD. Packets that an older connection left in the buffer count as well. */
  next(): number {
    if (this.reason !== "") return BAD;
    const packet = this.in.next();
    if (packet === BAD) this.reason = this.in.reason;
    return packet;
  }

  // Connections

  /** 0 or CLOSED. */
  attach(calls: SocketCalls, fd: number, generation: number): number {
    calls.open(fd);
    this.fd = fd;
    this.generation = generation;
    this.asked = false;
    this.#openRead = 0;
    this.#mayWrite = generation === 1;
    this.blocked = false;
    const words = this.#words;
    const at = this.#openAt >> 2;
    words[at] = openSalt;
    words[at + 1] = generation;
    words[at + 2] = this.in.received;
    words[at + 3] = this.#rank;
    this.#tellsReceived();
    // A new socket has room for these few bytes; if not, it is not worth having.
    return calls.send(fd, this.#openAt, openBytes) === openBytes ? 0 : CLOSED;
  }

  detach(calls: SocketCalls): void {
    calls.close(this.fd);
    this.fd = -1;
    this.#mayWrite = false;
    this.blocked = false;
  }

  #readOpening(calls: SocketCalls): number {
    const at = this.#openAt + openBytes;
    const took = calls.receive(this.fd, at + this.#openRead, openBytes - this.#openRead);
    if (took <= 0) return took;
    const read = this.#openRead + took;
    if (read < openBytes) {
      this.#openRead = read;
      return took;
    }
    const words = this.#words;
    const word = at >> 2;
    const fits = words[word] === openSalt && words[word + 1] === this.generation && words[word + 3] === this.peer;
    if (!fits) this.reason = "a connection that does not open as ours do";
    else if (!this.swallows && !this.#resume(words[word + 2]!))
      this.reason = "a peer that has read what was never sent";
    if (this.reason === "") this.#openRead = openBytes;
    return took;
  }

  #resume(position: number): boolean {
    if (this.#mayWrite) return position === 0;
    if (!this.out.resume(position)) return false;
    this.#mayWrite = true;
    this.blocked = this.out.unsent;
    return true;
  }

  /**
   * A wrong frame came over this connection, perhaps damaged on the way. True: the peer still has everything from there on, and
   * may send it again over another connection. False: there is no way to go on with it.
   */
  mend(): boolean {
    if (this.#mends === mendsMax) return false;
    this.#mends++;
    if (this.#openRead === openBytes) this.in.rewind();
    if (((this.in.received - this.#receipt) | 0) < 0) return false;
    this.reason = "";
    return true;
  }

  /** From now on everything sent is dropped. On a connection that comes later we say how far we have read, and no more. */
  swallow(): void {
    this.swallows = true;
    this.blocked = false;
    this.out.forget();
  }
}
