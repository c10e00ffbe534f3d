/**
 * The connections of a service: one for each client. After the handshake (transport/handshake; the hello's `from` is the client, its
 * `to` the position from which on it still has its stream, the answer's generation the position from which on that is wanted)
 * both ends speak as core/service-channel/connection.ts says.
 *
 * Sockets are read and written by system calls of this thread, which sleeps over all of them and over the descriptors of the event
 * loop: the door, and the channel to the dispatcher. (A round trip takes half as long as through the event loop.)
 */
import { randomInt } from "node:crypto";
import type { Socket } from "node:net";
import type { Wire } from "../../core/service-channel/channel.ts";
import type { Connection } from "../../core/service-channel/connection.ts";
import { ServiceClients, type ServiceUser } from "../../core/service-channel/service-clients.ts";
import { steadyMs } from "../machine/steady-clock.ts";
import { newYield } from "../machine/yield.ts";
import { CallVerdict } from "../transport/handshake/handshake.ts";
import type { Guest } from "../transport/handshake/reception.ts";
import { openSocketCallsOver } from "../transport/sockets/open-socket-calls.ts";
import { descriptorOf } from "../transport/sockets/raw-socket.ts";
import { type SocketCalls, scratchBytes } from "../transport/sockets/socket-calls.ts";

/** The connection of one client. */
interface Line {
  readonly client: number;
  readonly fd: number;
  readonly socket: Socket;
  readonly wire: Wire;
  connection: Connection | null;
  isWatchedWritable: boolean;
  /** It does not wake this thread: there is no room for its words. */
  isAsleep: boolean;
}

/** A buffer for memory that WASI cannot reach: views go through it. */
const viewScratchBytes = 1 << 15;
const memoryPages = 1;
/** A sleep that was shorter than that: words come so closely that it is better not to sleep before the next. */
const shortSleepMs = 0.3;
/** So many of them in a row: an answer that comes soon is not followed by another message as soon, where the clients compute in between. */
const shortSleepsMin = 4;
/** Looks between two turns of the event loop, which has timers too. */
const looksMax = 1000;
/** Numbers of a service's processes; two are the same very rarely. */
const originMax = 0x7fffffff;

export class ServiceHost {
  readonly #clients: ServiceClients<Line>;
  readonly #calls: SocketCalls;
  readonly #yield = newYield();
  readonly #lines = new Map<number, Line>();
  /** Descriptors that belong to the event loop, and who is told when they can be read. */
  readonly #foreign = new Map<number, () => void>();

  /** Words of clients may have come. */
  readonly #served: () => void;
  readonly #looksBeforeSleep: number;
  #looks: number;
  /** Sleeps in a row that were short. */
  #shortSleeps = 0;

  /**
   * `newUser` makes the service; it calls `move` when a client's connection has something to send or room again. `served` is called
   * whenever connections were moved, for a service that asks its clients' ends for words. `looksBeforeSleep`: for one whose clients wait
   * for each other, so that words follow each other closely.
   */
  constructor(
    newUser: (move: (client: number) => void) => ServiceUser,
    {
      served = () => {},
      looksBeforeSleep = 0,
    }: { readonly served?: () => void; readonly looksBeforeSleep?: number } = {},
  ) {
    this.#served = served;
    this.#looksBeforeSleep = looksBeforeSleep;
    this.#looks = looksBeforeSleep;
    const memory = new WebAssembly.Memory({ initial: memoryPages, maximum: memoryPages });
    this.#calls = openSocketCallsOver(memory, (isForViews) => ({
      scratch: 0,
      scratchBytes: isForViews ? viewScratchBytes : scratchBytes,
    }));
    const user = newUser((client) => this.#say(this.#clients.hostOf(client)));
    this.#clients = new ServiceClients(user, randomInt(1, originMax), (line) => this.#drop(line));
  }

  /** Does `serve` sleep? Otherwise it only looks. */
  get canSleep(): boolean {
    return this.#calls.wakeFd >= 0;
  }

  /** `serve` returns when this descriptor is readable, and does not read it; `readable` is called before. */
  watch(fd: number, readable: () => void = () => {}): void {
    if (!this.canSleep) return;
    this.#foreign.set(fd, readable);
    this.#calls.open(fd);
  }

  /** A caller of the job wants a connection. */
  received({ hello, socket, answer }: Guest): void {
    const { from: client, incarnation } = hello;
    const admission = this.#clients.admit({ client, incarnation, begin: hello.to | 0 });
    socket.on("error", () => {});
    if (admission === null) {
      socket.write(answer({ verdict: CallVerdict.ABSENT, incarnation, generation: 0 }), () => socket.destroy());
      return;
    }
    const welcome = answer({ verdict: CallVerdict.WELCOME, incarnation, generation: admission.wanted >>> 0 });
    socket.write(welcome, (error) => {
      const fd = descriptorOf(socket);
      if (fd < 0 || error instanceof Error) {
        socket.destroy();
        return;
      }
      const line: Line = {
        client,
        fd,
        socket,
        connection: null,
        isWatchedWritable: false,
        isAsleep: false,
        wire: {
          send: (memory, at, bytes, more) => this.#calls.sendView(fd, memory, at, bytes, more),
          receive: (memory, at, bytes) => this.#calls.receiveView(fd, memory, at, bytes),
        },
      };
      line.connection = this.#clients.connect(admission, line);
      if (line.connection === null) {
        socket.destroy();
        return;
      }
      this.#lines.set(fd, line);
      this.#calls.open(fd);
    });
  }

  #drop(line: Line): void {
    this.#lines.delete(line.fd);
    this.#clients.disconnected(line.client, line);
    this.#calls.close(line.fd);
    line.socket.destroy();
  }

  /** Closes all connections. */
  end(): void {
    for (const line of [...this.#lines.values()]) this.#drop(line);
    this.#calls.end();
  }

  /** Serves for a while, and sleeps while there is nothing to do: until the event loop has, or that long. False: nothing came. */
  serve(timeoutMs: number): boolean {
    for (let looks = 0; looks < looksMax; looks++) {
      const ready = this.#wait(timeoutMs);
      if (ready < 0) {
        const some = this.#moveAll();
        this.#served();
        return some;
      }
      if (ready === 0) return false;
      let isForeign = false;
      for (let i = 0; i < ready; i++) {
        const fd = this.#calls.readyAt(i);
        const line = this.#lines.get(fd);
        if (line !== undefined) this.#move(line);
        else {
          const readable = this.#foreign.get(fd);
          readable?.();
          isForeign ||= readable !== undefined;
        }
      }
      this.#served();
      if (isForeign) return true;
    }
    return true;
  }

  /** Looks for a while, if that was of use lately, and sleeps. A thread that is asleep is woken in ten microseconds or more. */
  #wait(timeoutMs: number): number {
    for (let looks = this.#looks; looks > 0; looks--) {
      const ready = this.#calls.wait(0);
      if (ready !== 0) return ready;
      this.#yield();
    }
    if (this.#looksBeforeSleep === 0) return this.#calls.wait(timeoutMs);
    const startMs = steadyMs();
    const ready = this.#calls.wait(timeoutMs);
    this.#shortSleeps = steadyMs() - startMs < shortSleepMs ? this.#shortSleeps + 1 : 0;
    this.#looks = this.#shortSleeps >= shortSleepsMin ? this.#looksBeforeSleep : 0;
    return ready;
  }

  /** For systems that do not report which connections are ready. */
  #moveAll(): boolean {
    let some = false;
    for (const line of [...this.#lines.values()]) if (this.#move(line)) some = true;
    return some;
  }

  /** There is something to say to that client, or room for its words again. */
  #say(line: Line | null): void {
    const connection = line?.connection;
    if (line === null || connection == null) return;
    if (line.isAsleep || connection.hasUnplaced) this.#move(line);
    else if (connection.say(line.wire)) this.#watch(line, connection);
    else this.#drop(line);
  }

  /** True: something moved. */
  #move(line: Line | null | undefined): boolean {
    const connection = line?.connection;
    if (line == null || connection == null) return false;
    const moves = connection.moves;
    if (!connection.move(line.wire)) {
      this.#drop(line);
      return true;
    }
    this.#watch(line, connection);
    return connection.moves !== moves;
  }

  /** A client for whose words there is no room is not watched until the service has taken some and moves its connection. */
  #watch(line: Line, { isFull, isBlocked }: Connection): void {
    const isAsleep = isFull && this.canSleep;
    if (isAsleep !== line.isAsleep) {
      line.isAsleep = isAsleep;
      line.isWatchedWritable = false;
      if (isAsleep) this.#calls.close(line.fd);
      else this.#calls.open(line.fd);
    }
    if (isAsleep || isBlocked === line.isWatchedWritable) return;
    line.isWatchedWritable = isBlocked;
    this.#calls.watchWritable(line.fd, isBlocked);
  }
}
