/**
 * The connection of a set's stream to the event logger, driven by whichever thread of the node finds it free: a rank that waits
 * for an acknowledgement, or the main thread for those who do not wait. It is a non-blocking socket whose descriptor stands in
 * the ring's memory; the words go out from the ring as they are, and acknowledgements come back as positions, a word each.
 *
 * Nobody waits for the one who drives, which takes a microsecond or two. Who dies at it takes its set along, and the connection
 * is the set's alone. The main thread makes the connection, and closes it only while it drives itself, or when all who could
 * use it are gone.
 *
 * Words of the ring's memory, all of them only for who drives: the connection's number, which changes with every new one; the
 * descriptor, −1: none; 1: it is broken; bytes that have been sent of the word at `sent`; bytes of acknowledgements that are
 * there; those.
 */
import { openSocketCallsOver } from "../transport/tcp/open-socket-calls.ts";
import { CLOSED, type SocketCalls, scratchBytes, WOULD_BLOCK } from "../transport/tcp/socket-calls.ts";
import { headWords, type RingCalls, type SharedRing } from "./determinant-ring.ts";

const NUMBER = 130;
const FD = 131;
const BROKEN = 132;
const SENT_BYTES = 133;
const HAVE_BYTES = 134;
const ACKNOWLEDGEMENTS = 160;
const acknowledgementBytes = 256;
/** In one call. */
const sendBytesMax = 1 << 16;
/** Who sleeps over the event logger's answer sleeps over everything else. */
const napMs = 1;

export class StreamDriver {
  readonly #memory: WebAssembly.Memory;
  readonly #words: Int32Array;
  readonly #calls: RingCalls;
  readonly #mask: number;
  readonly #scratch: number;
  /** Made when there is a connection. */
  #sockets: SocketCalls | null = null;
  /** The connection that this thread has used last. */
  #number = 0;
  #fd = -1;
  readonly #never = new Int32Array(new SharedArrayBuffer(4));

  constructor({ memory, words, scratch }: SharedRing, calls: RingCalls) {
    this.#memory = memory;
    this.#words = new Int32Array(memory.buffer);
    this.#calls = calls;
    this.#mask = words - 1;
    this.#scratch = scratch;
  }

  /** Sends what is there and reads what has come. False: there is no connection. */
  drive(): boolean {
    if (this.#calls.tryDrive() === 0) return true;
    const isThere = this.#move();
    this.#calls.leaveDrive();
    return isThere;
  }

  /** Waits a moment for an acknowledgement. */
  nap(): void {
    if (this.#sockets === null || this.#sockets.wait(napMs) < 0) Atomics.wait(this.#never, 0, 0, napMs);
  }

  #move(): boolean {
    const words = this.#words;
    if (words[NUMBER] !== this.#number) this.#take();
    const fd = words[FD]!;
    if (words[NUMBER] === 0 || fd < 0) return false;
    if (this.#send(fd) && this.#receive(fd)) return true;
    words[FD] = -1;
    words[BROKEN] = 1;
    return false;
  }

  #take(): void {
    if (this.#fd >= 0) this.#sockets!.close(this.#fd);
    this.#number = this.#words[NUMBER]!;
    this.#fd = this.#words[FD]!;
    if (this.#fd < 0) return;
    this.#sockets ??= openSocketCallsOver(this.#memory, () => ({ scratch: this.#scratch, scratchBytes }));
    this.#sockets.open(this.#fd);
  }

  /** False: the connection is closed. */
  #send(fd: number): boolean {
    const words = this.#words;
    const born = this.#calls.born();
    for (let sent = this.#calls.sent(); sent !== born; ) {
      const from = sent & this.#mask;
      const bytes = 4 * Math.min((born - sent) | 0, this.#mask + 1 - from);
      const part = words[SENT_BYTES]!;
      const went = this.#sockets!.send(fd, 4 * (headWords + from) + part, Math.min(bytes, sendBytesMax) - part);
      if (went < 0) return went === WOULD_BLOCK;
      sent = (sent + ((part + went) >> 2)) | 0;
      words[SENT_BYTES] = (part + went) & 3;
      this.#calls.setSent(sent);
    }
    return true;
  }

  /** False: the connection is closed, or what came over it cannot be an acknowledgement. */
  #receive(fd: number): boolean {
    const sent = this.#calls.sent();
    const stable = this.#calls.stable();
    if (sent === stable) return true;
    const words = this.#words;
    const have = words[HAVE_BYTES]!;
    const came = this.#sockets!.receive(fd, 4 * ACKNOWLEDGEMENTS + have, acknowledgementBytes - have);
    if (came < 0) return came !== CLOSED;
    const whole = (have + came) >> 2;
    if (whole > 0) {
      const position = words[ACKNOWLEDGEMENTS + whole - 1]!;
      words[ACKNOWLEDGEMENTS] = words[ACKNOWLEDGEMENTS + whole]!;
      // Never more than was sent: somebody would print what no event logger has.
      if (((sent - position) | 0) < 0) return false;
      this.#calls.acknowledge(position);
    }
    words[HAVE_BYTES] = (have + came) & 3;
    return true;
  }

  // The main thread's side

  /**
   * From now on, that is the connection, and the stream goes on over it at that position. Descriptor −1: there is none for a while.
   * False: somebody drives just now; try again.
   */
  connect(fd: number, position: number): boolean {
    if (this.#calls.tryDrive() === 0) return false;
    const words = this.#words;
    words[NUMBER] = words[NUMBER]! + 1;
    words[FD] = fd;
    words[BROKEN] = 0;
    words[SENT_BYTES] = 0;
    words[HAVE_BYTES] = 0;
    this.#calls.setSent(position);
    this.#calls.leaveDrive();
    return true;
  }

  get isBroken(): boolean {
    return this.#words[BROKEN] === 1;
  }

  /** Nobody will use the connection any more. */
  end(): void {
    this.#sockets?.end();
  }
}
