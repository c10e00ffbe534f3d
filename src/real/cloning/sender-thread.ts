/**
 * The thread that gives away the memory of a process: it waits until it is told which one (`WaitingThreads`), then for the call of the node that has room for the clone, and
 * sends all pages that are in use while the program runs, then those that have changed, in rounds (image/pre-copy.ts). The program stands still for the last one alone.
 */
import { randomBytes } from "node:crypto";
import type { Socket } from "node:net";
import { parentPort } from "node:worker_threads";
import { assert, unreachable } from "../../core/base/assert.ts";
import { ImageError } from "../../image/image-error.ts";
import { keysBytes } from "../../image/page-hash.ts";
import { isWorthAnotherRound, pagesFew } from "../../image/pre-copy.ts";
import type { MemoryRange } from "../../image/ranges.ts";
import { DepartingMemory, type TravelPiece } from "../../image/travelling/departing-memory.ts";
import { setFlagsFor } from "../../v8/flags.ts";
import { ThreadPriority } from "../machine/thread-priority.ts";
import { CallVerdict, ServiceCode } from "../transport/handshake/handshake.ts";
import { type Guest, Reception } from "../transport/handshake/reception.ts";
import { startReading } from "../transport/sockets/raw-socket.ts";
import { patienceMs, rangesOfLane, usedBytes, usedRanges } from "./lanes.ts";
import type { CopiedRound, FromSender, LastLook, LastPart, SenderSetup, ToSender } from "./messages.ts";

assert(parentPort !== null, "clone-sender.cjs runs as a worker thread");
const port = parentPort;
const say = (message: FromSender): void => port.postMessage(message);

/** So much may wait for the network while more is made; of the last round, while the program stands still. */
const queuedBytes = 1 << 20;
const queuedBytesLast = 64 << 20;

/** While programs run they come first, for a while; while one stands still for its last pages nothing comes before them. */
const priority = new ThreadPriority();

class Sending {
  readonly #socket: Socket;
  readonly #setup: SenderSetup;
  readonly #departing: DepartingMemory;
  readonly #words: Int32Array;
  readonly #rounds: CopiedRound[] = [];
  /** Others come first until then. */
  #patientUntilMs = 0;
  /** Called when all pages are answered. */
  #answered: (() => void) | null = null;
  /** Of the program's process; it may come before the last look is over. */
  #last: LastPart | null = null;
  /** The program may go on, as far as this lane is concerned. */
  isCaptured = false;

  constructor(setup: SenderSetup, socket: Socket) {
    this.#setup = setup;
    this.#socket = socket;
    this.#departing = new DepartingMemory(setup.memory, randomBytes(keysBytes));
    this.#words = new Int32Array(setup.memory.buffer);
  }

  /** While the program runs. */
  async copy(): Promise<void> {
    priority.giveWay();
    this.#patientUntilMs = performance.now() + patienceMs(usedBytes(this.#inUse()));
    this.#socket.write(this.#departing.start());
    while (isWorthAnotherRound(this.#rounds, pagesFew.sent)) this.#rounds.push(await this.#round());
    say({ kind: "copied", rounds: this.#rounds });
  }

  async look({ ranges }: LastLook): Promise<void> {
    priority.takeBack();
    const fromMs = performance.now();
    const before = this.#departing.pages;
    for (const piece of this.#departing.last(rangesOfLane(ranges, this.#setup.lane))) {
      if (this.#mustWait(piece, queuedBytesLast)) await this.#drained();
    }
    this.isCaptured = true;
    say({ kind: "captured", last: { pages: this.#departing.pages - before, ms: performance.now() - fromMs } });
    this.#end();
  }

  finish(last: LastPart): void {
    this.#last = last;
    this.#end();
  }

  #end(): void {
    if (!this.isCaptured || this.#last === null) return;
    const { header, state } = this.#last;
    this.#mustWait(this.#departing.end(header, state), queuedBytesLast);
    this.#socket.end();
  }

  /** What the other node says: hashes of pages. */
  heard(hashes: Uint8Array): void {
    this.#departing.heard(hashes);
    if (this.#departing.isAnswered) this.#answered?.();
  }

  async #round(): Promise<CopiedRound> {
    const fromMs = performance.now();
    const before = this.#departing.pages;
    for (const piece of this.#departing.round(this.#inUse())) {
      if (performance.now() > this.#patientUntilMs) priority.takeBack();
      if (this.#mustWait(piece, queuedBytes)) await this.#drained();
    }
    if (!this.#departing.isAnswered) await this.#allAnswered();
    return { pages: this.#departing.pages - before, ms: performance.now() - fromMs };
  }

  #inUse(): MemoryRange[] {
    return rangesOfLane(usedRanges(this.#setup.marks, this.#words), this.#setup.lane);
  }

  #mustWait(piece: TravelPiece, queued: number): boolean {
    const socket = this.#socket;
    socket.cork();
    for (const part of piece) socket.write(part);
    socket.uncork();
    return socket.writableNeedDrain && socket.writableLength > queued;
  }

  /** Fulfilled when there is room again; a connection that is lost is told of elsewhere, and nothing follows. */
  #drained(): Promise<void> {
    return new Promise((resolve) => this.#socket.once("drain", () => resolve()));
  }

  #allAnswered(): Promise<void> {
    return new Promise((resolve) => {
      this.#answered = () => {
        this.#answered = null;
        resolve();
      };
    });
  }
}

/** One clone, from the setup on. */
class Departure {
  readonly #setup: SenderSetup;
  readonly #reception: Reception;
  /** Null: nobody has called. */
  #sending: Sending | null = null;
  #isOver = false;

  constructor(setup: SenderSetup) {
    this.#setup = setup;
    this.#reception = new Reception({
      job: setup.job,
      service: ServiceCode.CLONE,
      place: { address: setup.host, port: 0 },
      received: (guest) => this.#receive(guest),
      dropped: () => {},
    });
    void this.#reception.listen().then((listening) => {
      if (listening.ok) say({ kind: "listening", port: listening.port });
      else this.#fail(listening.reason);
    });
  }

  look(look: LastLook): void {
    if (this.#sending === null) this.#fail("nobody has called for it");
    else this.#guarded(this.#sending.look(look));
  }

  finish(last: LastPart): void {
    this.#sending?.finish(last);
  }

  #receive({ hello, socket, answer }: Guest): void {
    const { clone, lane } = this.#setup;
    const isThis = hello.from === clone.source && hello.wanted === clone.number && hello.to === lane.index;
    const isOurs = isThis && this.#sending === null;
    const verdict = isOurs ? CallVerdict.WELCOME : CallVerdict.ABSENT;
    socket.write(answer({ verdict, incarnation: 0, generation: 0 }));
    if (!isOurs) {
      socket.end();
      return;
    }
    this.#reception.close();
    socket.on("error", () => {});
    // It closes when all has left, too.
    socket.on("close", () => this.#fail("the node that had room for it is gone"));
    const sending = new Sending(this.#setup, socket);
    this.#sending = sending;
    socket.on("data", (hashes: Buffer) => {
      try {
        sending.heard(hashes);
      } catch (error) {
        if (!(error instanceof ImageError)) throw error;
        socket.destroy();
        this.#fail(error.message);
      }
    });
    socket.resume();
    startReading(socket);
    this.#guarded(sending.copy());
  }

  /** An error of our own, or a memory that cannot be had. */
  #guarded(work: Promise<void>): void {
    void work.catch((error: unknown) => this.#fail(error instanceof Error ? error.message : String(error)));
  }

  #fail(problem: string): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#reception.close();
    // Once its part is captured it is the other node that says whether the image is complete.
    say(this.#sending?.isCaptured === true ? { kind: "over" } : { kind: "failed", problem });
  }
}

let departure: Departure | undefined;

port.on("message", (message: ToSender) => {
  switch (message.kind) {
    case "setup":
      // Pages are looked at from the first one on: what does it is to be fast from there on. Not before there is work: the program's own code comes first.
      setFlagsFor("run C programs");
      departure = new Departure(message);
      return;
    case "last-look":
      departure?.look(message);
      return;
    case "last-part":
      departure?.finish(message);
      return;
    default:
      unreachable(message);
  }
});
