/**
 * The thread that gives away the memory of a process: it waits for the call of the node that has room for the clone, and sends all pages that are in
 * use while the program runs, then those that have changed, in rounds (image/pre-copy.ts). The program stands still for the last one alone.
 */
import type { Socket } from "node:net";
import { parentPort, workerData } from "node:worker_threads";
import { assert } from "../../core/base/assert.ts";
import { ImageEncoder, type Piece } from "../../image/encoder.ts";
import { isWorthAnotherRound } from "../../image/pre-copy.ts";
import type { MemoryRange } from "../../image/ranges.ts";
import { newStage } from "../image/write-image.ts";
import { CallVerdict, ServiceCode } from "../transport/handshake/handshake.ts";
import { type Guest, Reception } from "../transport/handshake/reception.ts";
import { startReading } from "../transport/sockets/raw-socket.ts";
import { rangesOfLane, usedRanges } from "./lanes.ts";
import type { CopiedRound, FromSender, LastPart, SenderSetup } from "./messages.ts";

assert(parentPort !== null, "clone-sender.cjs runs as a worker thread");
const port = parentPort;
const { clone, lane, memory, marks, job, host } = workerData as SenderSetup;
const say = (message: FromSender): void => port.postMessage(message);

/** So much may wait for the network while more is made; of the last round, while the program stands still. */
const queuedBytes = 1 << 20;
const queuedBytesLast = 64 << 20;

class Sending {
  readonly #socket: Socket;
  readonly #encoder = new ImageEncoder({ stage: newStage(memory, 1), book: 0, base: null, codec: null });
  readonly #words = new Int32Array(memory.buffer);
  readonly #rounds: CopiedRound[] = [];

  constructor(socket: Socket) {
    this.#socket = socket;
  }

  /** While the program runs. */
  async copy(): Promise<void> {
    await this.#send(this.#encoder.start());
    while (isWorthAnotherRound(this.#rounds.map(({ pages }) => pages)))
      this.#rounds.push(await this.#round(this.#inUse(), queuedBytes));
    say({ kind: "copied", rounds: this.#rounds });
  }

  async finish({ header, state, ranges }: LastPart): Promise<void> {
    const last = await this.#round(rangesOfLane(ranges, lane), queuedBytesLast);
    isCaptured = true;
    say({ kind: "captured", last });
    await this.#send(this.#encoder.end(header, state));
    this.#socket.end();
  }

  #inUse(): MemoryRange[] {
    return rangesOfLane(usedRanges(marks, this.#words), lane);
  }

  async #round(ranges: readonly MemoryRange[], queued: number): Promise<CopiedRound> {
    const from = performance.now();
    const { pages } = this.#encoder.progress;
    for (const piece of this.#encoder.round(ranges)) {
      if (this.#mustWait(piece, queued)) await this.#drained();
    }
    return { pages: this.#encoder.progress.pages - pages, ms: performance.now() - from };
  }

  async #send(piece: Piece): Promise<void> {
    if (this.#mustWait(piece, queuedBytes)) await this.#drained();
  }

  /** A copy: the piece lies where the next one will be made. */
  #mustWait(piece: Piece, queued: number): boolean {
    return !this.#socket.write(Buffer.concat(piece)) && this.#socket.writableLength > queued;
  }

  /** Fulfilled when there is room again; a connection that is lost is told of elsewhere, and nothing follows. */
  #drained(): Promise<void> {
    return new Promise((resolve) => this.#socket.once("drain", () => resolve()));
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
  // It says nothing, but its end must be noticed.
  socket.resume();
  startReading(socket);
  sending = new Sending(socket);
  guarded(sending.copy());
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
