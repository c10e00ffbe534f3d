/**
 * The connections of the event logger: one for each life of a set. After the handshake (transport/handshake; the
 * hello's `from` is the set, its `to` the position from which its node keeps the stream, the answer's generation the position from
 * which on it is wanted) the node sends words: first how far an event logger has acknowledged before, then the stream. What has been taken is answered
 * with a word, the position behind it.
 *
 * Sockets are read and written by system calls of this thread, which sleeps over all of them and over what belongs to the event
 * loop: the door, and the channel to the dispatcher. (A round trip takes half of what it takes through the event loop.)
 */
import type { Socket } from "node:net";
import type { EventLogger } from "../../core/ft/logging/event-logger.ts";
import { Verdict } from "../transport/handshake/handshake.ts";
import type { Guest } from "../transport/handshake/reception.ts";
import { openSocketCallsOver } from "../transport/tcp/open-socket-calls.ts";
import { descriptorOf } from "../transport/tcp/raw-socket.ts";
import { CLOSED, type SocketCalls, scratchBytes, WOULD_BLOCK } from "../transport/tcp/socket-calls.ts";

interface Connection {
  readonly fd: number;
  readonly socket: Socket;
  readonly set: number;
  readonly incarnation: number;
  /** Where the stream goes on. */
  position: number;
  /** The first word has come. */
  hasBegun: boolean;
  /** Bytes of a word that is not all here. */
  readonly rest: Uint8Array;
  restBytes: number;
  /** An acknowledgement could not leave. */
  isOwed: boolean;
}

/** Byte offsets in this thread's memory. */
const scratchAt = 0;
const answerAt = scratchBytes;
const inputAt = 4096;
const inputBytes = 1 << 18;
const memoryPages = (inputAt + inputBytes + 65535) >> 16;
/** Looks between two turns of the event loop, which has timers too. */
const looksMax = 1000;

export class LoggerServer {
  readonly #core: EventLogger;
  readonly #memory = new WebAssembly.Memory({ initial: memoryPages, maximum: memoryPages });
  readonly #words = new Int32Array(this.#memory.buffer);
  readonly #bytes = new Uint8Array(this.#memory.buffer);
  readonly #calls: SocketCalls;
  readonly #connections = new Map<number, Connection>();
  /** Descriptors that are the event loop's business. */
  readonly #foreign = new Set<number>();
  #owed = 0;

  constructor(core: EventLogger) {
    this.#core = core;
    this.#calls = openSocketCallsOver(this.#memory, () => ({ scratch: scratchAt, scratchBytes }));
  }

  /** Does `serve` sleep? Otherwise it only looks. */
  get canSleep(): boolean {
    return this.#calls.wakeFd >= 0;
  }

  /** `serve` returns when there is something to read on that one, which it does not touch. */
  watch(fd: number): void {
    if (!this.canSleep) return;
    this.#foreign.add(fd);
    this.#calls.open(fd);
  }

  /** Somebody of the job wants to be heard. */
  received({ hello, socket, answer }: Guest): void {
    const { from: set, incarnation } = hello;
    const end = this.#core.open(set, incarnation, hello.to | 0);
    const verdict = end === null ? Verdict.ABSENT : Verdict.WELCOME;
    socket.on("error", () => {});
    socket.write(answer({ verdict, incarnation, generation: (end ?? 0) >>> 0 }), (error) => {
      const fd = descriptorOf(socket);
      if (end === null || fd < 0 || error instanceof Error) socket.destroy();
      else this.#add({ fd, socket, set, incarnation, position: end });
    });
  }

  #add(connection: Pick<Connection, "fd" | "socket" | "set" | "incarnation" | "position">): void {
    // The life of a set has one: who connects again has lost the one before.
    for (const old of this.#connections.values()) if (old.set === connection.set) this.#drop(old);
    const whole = { ...connection, hasBegun: false, rest: new Uint8Array(4), restBytes: 0, isOwed: false };
    this.#connections.set(connection.fd, whole);
    this.#calls.open(connection.fd);
  }

  #drop(connection: Connection): void {
    if (connection.isOwed) this.#owed--;
    this.#connections.delete(connection.fd);
    this.#calls.close(connection.fd);
    connection.socket.destroy();
  }

  /** Nobody is heard any more. */
  end(): void {
    for (const connection of [...this.#connections.values()]) this.#drop(connection);
    this.#calls.end();
  }

  /** Serves for a while, and sleeps while there is nothing to do: until the event loop has, or that long. False: nothing came. */
  serve(timeoutMs: number): boolean {
    for (let looks = 0; looks < looksMax; looks++) {
      const ready = this.#calls.wait(this.#owed > 0 ? 1 : timeoutMs);
      if (this.#owed > 0) for (const connection of this.#connections.values()) this.#answer(connection);
      if (ready < 0) return this.#readAll();
      if (ready === 0) return false;
      let isForeign = false;
      const descriptors = Array.from({ length: ready }, (_, i) => this.#calls.readyAt(i));
      for (const fd of descriptors) {
        if (this.#foreign.has(fd)) isForeign = true;
        else this.#read(fd);
      }
      if (isForeign) return true;
    }
    return true;
  }

  /** Where nobody can say who is ready. */
  #readAll(): boolean {
    let some = false;
    for (const fd of [...this.#connections.keys()]) if (this.#read(fd)) some = true;
    return some;
  }

  #read(fd: number): boolean {
    const connection = this.#connections.get(fd);
    if (connection === undefined) return false;
    const { rest, restBytes } = connection;
    const came = this.#calls.receive(fd, inputAt + restBytes, inputBytes - restBytes);
    if (came === WOULD_BLOCK) return false;
    if (came === CLOSED) {
      this.#drop(connection);
      return true;
    }
    this.#bytes.set(rest.subarray(0, restBytes), inputAt);
    const all = restBytes + came;
    connection.restBytes = all & 3;
    rest.set(this.#bytes.subarray(inputAt + all - connection.restBytes, inputAt + all));
    this.#take(connection, this.#words.subarray(inputAt >> 2, (inputAt + all) >> 2));
    return true;
  }

  #take(connection: Connection, words: Int32Array): void {
    if (words.length === 0) return;
    const { set, incarnation, position } = connection;
    let part = words;
    if (!connection.hasBegun) {
      connection.hasBegun = true;
      this.#core.owes(set, incarnation, words[0]!);
      part = words.subarray(1);
    }
    // An old life is not answered.
    if (this.#core.append(set, incarnation, position, part) === null) {
      this.#drop(connection);
      return;
    }
    connection.position = (position + part.length) | 0;
    this.#answer(connection);
  }

  /** A later acknowledgement says all that an earlier one would have. */
  #answer(connection: Connection): void {
    this.#words[answerAt >> 2] = connection.position;
    const went = this.#calls.send(connection.fd, answerAt, 4);
    const isOwed = went === WOULD_BLOCK;
    if (isOwed !== connection.isOwed) this.#owed += isOwed ? 1 : -1;
    connection.isOwed = isOwed;
    // Who is gone will be found so when it is read.
  }
}
