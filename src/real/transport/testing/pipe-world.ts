/**
 * For the tests of this folder: ranks whose sockets are pipes in memory and whose kernel moves as many bytes as the test
 * says, so that a generator can break anything at any moment. `PipeSide` is one rank; `PipeWorld` has several, each on a
 * node of its own, with hosts that do what tcp-host.ts does, only when the test lets them. Killed ranks may come back.
 */
import { BYTES, CONTEXT, KIND, kindOf, PAYLOAD, PacketKind, SOURCE, TAG } from "../../../core/wire/packet.ts";
import type { Landing } from "../../../core/wire/transport.ts";
import { CLOSED, type SocketCalls, WOULD_BLOCK } from "../sockets/socket-calls.ts";
import { Handover, newHandover, PeerState, type TcpRequest } from "../tcp/handover.ts";
import { TcpTransport } from "../tcp/tcp-transport.ts";
import { PlainMemory } from "./plain-memory.ts";

/** Bytes in one direction of a connection. */
export class Pipe {
  bytes: number[] = [];
  open = true;

  /** Of what is under way only the first bytes still arrive. */
  break(keep: number): void {
    if (this.open) this.bytes.length = Math.min(this.bytes.length, keep);
    this.open = false;
  }
}

interface PipeSideOptions {
  readonly rank: number;
  readonly ranks: number;
  /** How many bytes the kernel moves next. */
  readonly chunk: () => number;
  readonly landing?: Landing | null;
  /** The lives of all ranks when this one starts; all 0 unless told. */
  readonly lives?: readonly number[];
  readonly tell: (request: TcpRequest) => void;
}

/** A packet that was taken, as words: source, context, tag, bytes. */
export type Taken = readonly [number, number, number, number];

export class PipeSide {
  readonly memory = new PlainMemory(4);
  readonly transport: TcpTransport;
  readonly handover: Handover;
  readonly arrived: string[] = [];
  /** By descriptor. */
  readonly pipes = new Map<number, { out: Pipe; in: Pipe }>();
  onPiece: ((what: Taken, payload: number) => void) | null = null;

  constructor({ rank, ranks, chunk, landing = null, lives = [], tell }: PipeSideOptions) {
    const shared = newHandover({ processes: 1, ranks });
    this.handover = new Handover(shared);
    for (const [peer, life] of lives.entries()) this.handover.say(0, peer, PeerState.ALIVE, life);
    this.transport = new TcpTransport({
      rank,
      ranks,
      process: 0,
      memory: this.memory,
      handover: shared,
      tell,
      sizesOf: () => ({ eagerBytesMax: 512, outBytes: 6144 }),
      openCalls: () => this.#calls(chunk),
    });
    if (landing !== null) this.transport.setLanding(landing);
  }

  #calls(chunk: () => number): SocketCalls {
    const { memory, pipes } = this;
    const receiveView = (fd: number, view: Uint8Array, offset: number, bytes: number): number => {
      const pipe = pipes.get(fd)!.in;
      const length = Math.min(bytes, chunk(), pipe.bytes.length);
      if (length === 0) return pipe.open || pipe.bytes.length > 0 ? WOULD_BLOCK : CLOSED;
      view.set(pipe.bytes.splice(0, length), offset);
      return length;
    };
    const sendView = (fd: number, view: Uint8Array, offset: number, bytes: number): number => {
      const pipe = pipes.get(fd)!.out;
      const length = bytes === 64 && pipe.bytes.length === 0 ? 64 : Math.min(bytes, chunk());
      if (!pipe.open) return CLOSED;
      if (length === 0 || pipe.bytes.length > 3000) return WOULD_BLOCK;
      pipe.bytes.push(...view.subarray(offset, offset + length));
      return length;
    };
    return {
      name: "wasi",
      wakeFd: -1,
      readyFd: -1,
      open() {},
      close() {},
      send: (fd, at, bytes) => sendView(fd, memory.bytes, at, bytes),
      receive: (fd, at, bytes) => receiveView(fd, memory.bytes, at, bytes),
      sendView,
      receiveView,
      watchWritable() {},
      wait: () => -1,
      readyAt: () => -1,
      onReady: () => null,
      end() {},
    };
  }

  /** An eager packet full of one byte; false when the channel is full. */
  send(to: number, tag: number, bytes: number): boolean {
    const { transport, memory } = this;
    const packet = transport.reserve(to, bytes);
    if (packet < 0) return false;
    const { words } = transport;
    words[packet + KIND] = PacketKind.EAGER;
    words[packet + CONTEXT] = 7;
    words[packet + TAG] = tag;
    words[packet + BYTES] = bytes;
    memory.bytes.fill(tag + 1, transport.payload, transport.payload + bytes);
    transport.commit(to);
    return true;
  }

  /** How `arrived` shows what `send` sent. */
  static shown(from: number, tag: number, bytes: number): string {
    return `${[from, 7, tag, bytes]} ${bytes === 0 ? "landed" : Buffer.alloc(bytes, tag + 1).toString("hex")}`;
  }

  /** Takes one packet, if there is one. */
  step(): void {
    const { transport } = this;
    const packet = transport.peek();
    if (packet < 0) return;
    const { words } = transport;
    const bytes = words[packet + BYTES]!;
    const payload = words[packet + PAYLOAD]!;
    const what: Taken = [words[packet + SOURCE]!, words[packet + CONTEXT]!, words[packet + TAG]!, bytes];
    const content =
      payload === 0 ? "landed" : Buffer.from(this.memory.bytes.slice(payload, payload + bytes)).toString("hex");
    const isPiece = kindOf(words[packet + KIND]!) === PacketKind.FRAGMENT;
    this.arrived.push(isPiece ? `piece ${what}` : `${what} ${content}`);
    if (isPiece) this.onPiece?.(what, payload);
    transport.release();
  }
}

/** A connection between two ranks of a `PipeWorld`. */
interface Connection {
  readonly generation: number;
  /** From the lower rank to the higher, and back. */
  readonly pipes: readonly [Pipe, Pipe];
  /** Which of the two has been handed its end. */
  readonly given: [boolean, boolean];
}

interface PipePair {
  readonly ranks: readonly [number, number];
  readonly wants: [boolean, boolean];
  connection: Connection | null;
  generation: number;
}

type PipeState = "running" | "leaving" | "finished" | "dead";

export class PipeWorld {
  readonly sides: PipeSide[];
  readonly states: PipeState[];
  readonly bad: string[] = [];
  /** Present life of each rank. */
  readonly lives: number[];
  /** What the host of each rank (first index) takes for the present life of each. */
  readonly #known: number[][];
  readonly #chunk: () => number;
  readonly #pairs: PipePair[] = [];
  /** Descriptors are never used twice here: whoever uses one too long is found out. */
  #nextFd = 1;

  constructor(ranks: number, chunk: () => number) {
    for (let b = 0; b < ranks; b++) {
      for (let a = 0; a < b; a++)
        this.#pairs.push({ ranks: [a, b], wants: [false, false], connection: null, generation: 0 });
    }
    this.#chunk = chunk;
    this.lives = new Array<number>(ranks).fill(0);
    this.#known = this.lives.map(() => [...this.lives]);
    this.sides = this.lives.map((_, rank) => this.#newSide(rank));
    this.states = this.sides.map(() => "running");
  }

  #newSide(rank: number): PipeSide {
    const { lives } = this;
    const life = lives[rank]!;
    const tell = (request: TcpRequest) => {
      if (lives[rank] === life) this.#told(request);
    };
    return new PipeSide({ rank, ranks: lives.length, chunk: this.#chunk, lives, tell });
  }

  get pairs(): number {
    return this.#pairs.length;
  }

  #told(request: TcpRequest): void {
    const { from, to } = request;
    const pair = this.#pairs.find(({ ranks }) => ranks.includes(from) && ranks.includes(to))!;
    const end = pair.ranks.indexOf(from) as 0 | 1;
    if (request.life !== this.lives[to]) return;
    switch (request.kind) {
      case "tcp-connect":
        // One that it has not looked at yet will do, until it has.
        if (pair.generation <= request.generation) pair.wants[end] = true;
        break;
      case "tcp-lost":
        if (pair.generation === request.generation) this.#close(pair, 10_000);
        break;
      case "tcp-bad-frame":
        this.bad.push(request.reason);
        break;
      case "tcp-holds":
        break;
    }
  }

  #close(pair: PipePair, keep: number): void {
    for (const pipe of pair.connection?.pipes ?? []) pipe.break(keep);
  }

  /** The network drops the connection of that pair, with all but the first bytes of what is under way. */
  cut(pair: number, keep: number): void {
    this.#close(this.#pairs[pair]!, keep);
  }

  /** The hosts of that pair do the next thing, if there is one to do. */
  host(index: number): void {
    const pair = this.#pairs[index]!;
    const { connection } = pair;
    for (const end of [0, 1] as const) {
      if (connection === null || connection.given[end]) continue;
      this.#give(pair, connection, end);
      return;
    }
    for (const end of [0, 1] as const) {
      if (!pair.wants[end]) continue;
      const [rank, peer] = [pair.ranks[end]!, pair.ranks[1 - end]!];
      const other = this.states[peer]!;
      if (this.#known[peer]![rank] !== this.lives[rank] || this.#known[rank]![peer] !== this.lives[peer]) continue;
      if (other === "finished") this.sides[rank]!.handover.say(0, peer, PeerState.FINISHED, this.lives[peer]!);
      if (other === "finished" || other === "dead") pair.wants[end] = false;
      else this.#connect(pair);
      return;
    }
  }

  #connect(pair: PipePair): void {
    // Both ends of the old one are gone as well: a rank that still reads there is at its end soon.
    this.#close(pair, 10_000);
    pair.generation++;
    pair.connection = { generation: pair.generation, pipes: [new Pipe(), new Pipe()], given: [false, false] };
    pair.wants[0] = false;
    pair.wants[1] = false;
  }

  /** A rank that has ended meanwhile is handed nothing, and its host hangs up. */
  #give(pair: PipePair, connection: Connection, end: 0 | 1): void {
    const rank = pair.ranks[end]!;
    connection.given[end] = true;
    if (this.states[rank] === "finished" || this.states[rank] === "dead") {
      this.#close(pair, 10_000);
      return;
    }
    const side = this.sides[rank]!;
    const fd = this.#nextFd++;
    side.pipes.set(fd, { out: connection.pipes[end]!, in: connection.pipes[1 - end]! });
    const peer = pair.ranks[1 - end]!;
    side.handover.give(0, peer, fd, { life: this.lives[peer]!, generation: connection.generation });
  }

  /** The thread of that rank is gone: its host closes what it did not say farewell on. `keep`: what still arrives of it. */
  finished(rank: number, keep: number): void {
    this.states[rank] = "finished";
    for (const pair of this.#pairs) {
      const end = pair.ranks.indexOf(rank);
      if (end < 0) continue;
      pair.wants[end] = false;
      const farewell = this.sides[rank]!.handover.farewell(0, pair.ranks[1 - end]!);
      if (pair.connection !== null && farewell.generation !== pair.connection.generation) this.#close(pair, keep);
    }
  }

  /** Its node was killed. Nobody is told yet. */
  killed(rank: number, keep: number): void {
    this.states[rank] = "dead";
    for (const pair of this.#pairs) if (pair.ranks.includes(rank)) this.#close(pair, keep);
  }

  /** The dispatcher tells that rank of a death. */
  tellDeath(rank: number, dead: number): void {
    this.hostHearsDeath(rank, dead);
    this.sides[rank]!.transport.peerFailed(dead);
  }

  hostHearsDeath(rank: number, dead: number): void {
    this.sides[rank]!.handover.say(0, dead, PeerState.DEAD, this.#known[rank]![dead]!);
  }

  /** A killed rank lives again, on another node. The others have not heard of it. */
  returned(rank: number): void {
    this.lives[rank]!++;
    this.#known[rank] = [...this.lives];
    this.states[rank] = "running";
    this.sides[rank] = this.#newSide(rank);
    for (const pair of this.#pairs) {
      if (!pair.ranks.includes(rank)) continue;
      this.#close(pair, 10_000);
      pair.connection = null;
      pair.generation = 0;
      pair.wants.fill(false);
    }
  }

  hostHearsReturn(rank: number, back: number, life: number): void {
    this.#known[rank]![back] = life;
    this.sides[rank]!.handover.say(0, back, PeerState.ALIVE, life);
  }
}
