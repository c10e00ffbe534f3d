/**
 * The thread that gives away the memory of a process: it waits for the call of the node that has room for the clone, and sends all pages that are in
 * use while the program runs, then those that have changed, in rounds (image/pre-copy.ts). The program stands still for the last one alone.
 */
import { randomBytes } from "node:crypto";
import type { Socket } from "node:net";
import { parentPort, workerData } from "node:worker_threads";
import { assert } from "../../core/base/assert.ts";
import { ImageError } from "../../image/image-error.ts";
import { isWorthAnotherRound } from "../../image/pre-copy.ts";
import type { MemoryRange } from "../../image/ranges.ts";
import { DepartingMemory, type TravelPiece } from "../../image/travelling/departing-memory.ts";
import { keysBytes } from "../../image/travelling/page-book.ts";
import { setFlagsFor } from "../../v8/flags.ts";
import { CallVerdict, ServiceCode } from "../transport/handshake/handshake.ts";
import { type Guest, Reception } from "../transport/handshake/reception.ts";
import { startReading } from "../transport/sockets/raw-socket.ts";
import { rangesOfLane, usedRanges } from "./lanes.ts";
import type { CopiedRound, FromSender, LastPart, SenderSetup } from "./messages.ts";

assert(parentPort !== null, "clone-sender.cjs runs as a worker thread");
const port = parentPort;
const { clone, lane, memory, marks, job, host } = workerData as SenderSetup;
const say = (message: FromSender): void => port.postMessage(message);

// Pages are looked at from the first one on: what does it is to be fast from there on.
setFlagsFor("run C programs");

/** So much may wait for the network while more is made; of the last round, while the program stands still. */
const queuedBytes = 1 << 20;
const queuedBytesLast = 64 << 20;

class Sending {
  readonly #socket: Socket;
  readonly #departing = new DepartingMemory(memory, randomBytes(keysBytes));
  readonly #words = new Int32Array(memory.buffer);
  readonly #rounds: CopiedRound[] = [];
  /** Called when all pages are answered. */
  #answered: (() => void) | null = null;

  constructor(socket: Socket) {
    this.#socket = socket;
  }

  /** While the program runs. */
  async copy(): Promise<void> {
    this.#socket.write(this.#departing.start());
    while (isWorthAnotherRound(this.#rounds.map(({ pages }) => pages))) this.#rounds.push(await this.#round());
    say({ kind: "copied", rounds: this.#rounds });
  }

  async finish({ header, state, ranges }: LastPart): Promise<void> {
    const fromMs = performance.now();
    const before = this.#departing.pages;
    for (const piece of this.#departing.last(rangesOfLane(ranges, lane))) {
      if (this.#mustWait(piece, queuedBytesLast)) await this.#drained();
    }
    isCaptured = true;
    say({ kind: "captured", last: { pages: this.#departing.pages - before, ms: performance.now() - fromMs } });
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
      if (this.#mustWait(piece, queuedBytes)) await this.#drained();
    }
    if (!this.#departing.isAnswered) await this.#allAnswered();
    return { pages: this.#departing.pages - before, ms: performance.now() - fromMs };
  }

  #inUse(): MemoryRange[] {
    return rangesOfLane(usedRanges(marks, this.#words), lane);
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

let sending: Sending | undefined;
/** From here on it is the other node that says whether the image is complete. */
let isCaptured = false;
let isOver = false;

function fail(problem: string): void {
  if (isOver) return;
  isOver = true;
  if (!isCaptured) say({ kind: "failed", problem });
  port.close();
  reception.close();
}

/** An error of our own, or a memory that cannot be had. */
const guarded = (work: Promise<void>): void =>
  void work.catch((error: unknown) => fail(error instanceof Error ? error.message : String(error)));

function receive({ hello, socket, answer }: Guest): void {
  const isThis = hello.from === clone.source && hello.wanted === clone.number && hello.to === lane.index;
  const isOurs = isThis && sending === undefined;
  const verdict = isOurs ? CallVerdict.WELCOME : CallVerdict.ABSENT;
  socket.write(answer({ verdict, incarnation: 0, generation: 0 }));
  if (!isOurs) {
    socket.end();
    return;
  }
  reception.close();
  socket.on("error", () => {});
  socket.on("close", () => fail("the node that had room for it is gone"));
  const begun = new Sending(socket);
  sending = begun;
  socket.on("data", (hashes: Buffer) => {
    try {
      begun.heard(hashes);
    } catch (error) {
      if (!(error instanceof ImageError)) throw error;
      socket.destroy();
      fail(error.message);
    }
  });
  socket.resume();
  startReading(socket);
  guarded(begun.copy());
}

const reception = new Reception({
  job,
  service: ServiceCode.CLONE,
  place: { address: host, port: 0 },
  received: receive,
  dropped: () => {},
});

void reception.listen().then((listening) => {
  if (listening.ok) say({ kind: "listening", port: listening.port });
  else fail(listening.reason);
});

port.on("message", (last: LastPart) => {
  if (sending === undefined) fail("nobody has called for it");
  else guarded(sending.finish(last));
});
