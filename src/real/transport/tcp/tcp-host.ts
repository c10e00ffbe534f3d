/**
 * The main thread's part of connections between nodes: it listens, says hello and hands sockets over to the ranks of
 * its node (handover.ts). It owns the sockets: it never reads them after the hello, and closes one only when its rank
 * has said that it does not use it any more, because a descriptor's number is reused at once.
 *
 * Two ranks have one connection at a time, numbered by generation. When both connect at once the lower rank's attempt wins
 * and the other yields. An attempt that fails is repeated, more and more slowly, until it succeeds or the dispatcher says that
 * the peer is dead: a node that cannot be reached is not dead for that (architecture, rule 7).
 *
 * A rank may come back from the dead, as another incarnation and perhaps elsewhere. Either side says in hello and answer who
 * it is, and believes the other only if that is the life it knows: an old life that wakes up gets in nowhere, and a new
 * one of which we have not heard yet tries again until we have.
 */
import type { Socket } from "node:net";
import { assert, unreachable } from "../../../core/base/assert.ts";
import { call } from "../handshake/call.ts";
import {
  type CallAnswer,
  CallVerdict,
  type Hello,
  type JobSecret,
  ServiceCode,
  secretBytes,
} from "../handshake/handshake.ts";
import { type Guest, type Listening, Reception } from "../handshake/reception.ts";
import type { Address } from "../sockets/address.ts";
import { descriptorOf } from "../sockets/raw-socket.ts";
import {
  type ConnectionName,
  Handover,
  newHandover,
  PeerState,
  type SharedHandover,
  type TcpRequest,
} from "./handover.ts";

export type TcpEvent =
  /** A caller that is not of this job was turned away; nothing to do. */
  | { readonly kind: "stranger"; readonly reason: string }
  /** Wanted for `forMs` and still trying. Said once for each time without a connection. */
  | {
      readonly kind: "unreachable";
      readonly from: number;
      readonly to: number;
      readonly forMs: number;
      readonly reason: string;
    }
  /** A rank's link to that life of a peer is shut for good: nonsense came over one connection after the other. */
  | { readonly kind: "bad-frame"; readonly from: number; readonly to: number; readonly reason: string };

interface TcpHostOptions {
  readonly job: JobSecret;
  /** Processes that the job can have, and those of this node in the order of their places. */
  readonly ranks: number;
  readonly ranksHere: readonly number[];
  /** Ranks of other nodes that can be adopted beside them; none unless given. */
  readonly guests?: number;
  /** Those of this node that are not there yet, see `rankBorn`. */
  readonly unborn?: readonly number[];
  /** The present one of every rank, those of this node among them; 0 unless told. */
  readonly incarnations?: readonly number[] | undefined;
  readonly address?: string;
  readonly port?: number;
  /** Rings the bell of the process with that index in this node. */
  readonly ring: (process: number) => void;
  readonly report: (event: TcpEvent) => void;
}

const retryMsMin = 5;
const retryMsMax = 500;
const unreachableMs = 5000;

/** A connection that the rank may still use. */
interface Held extends ConnectionName {
  readonly socket: Socket;
}

/** The state between two ranks, one of this node and one of another. */
interface Pair {
  readonly here: number;
  readonly there: number;
  /** The peer's life that all this is about, `held` excepted: its descriptors may lead to earlier ones. */
  life: number;
  /** The newest connection made. */
  generation: number;
  held: Held[];
  wanted: boolean;
  attempt: Socket | null;
  retry: NodeJS.Timeout | null;
  retryMs: number;
  wantedSince: number;
  reported: boolean;
  /** Nonsense came from there: no connection ever again. */
  shut: boolean;
}

const quiet = (): void => {};

/** Sends that and closes. This side reads no more, so it would never notice that the other side has closed too. */
const refuse = (socket: Socket, answer: Buffer): void => void socket.end(answer, () => socket.destroy());

const isUpTo = (name: ConnectionName, { life, generation }: ConnectionName): boolean =>
  name.life < life || (name.life === life && name.generation <= generation);

export class TcpHost {
  /** For the workerData of every rank of this node. */
  readonly handover: SharedHandover;
  readonly #options: TcpHostOptions;
  readonly #handover: Handover;
  readonly #reception: Reception;
  readonly #places = new Map<number, number>();
  readonly #pairs = new Map<number, Pair>();
  /** By place; null: not born yet. */
  readonly #here: (PeerState | null)[];
  readonly #dead = new Set<number>();
  /** Ranks of other nodes to which there shall be no connection, though they live. */
  readonly #cut = new Set<number>();
  readonly #incarnations: number[];
  #addresses: readonly (Address | null)[] = [];
  #port = 0;
  #closed = false;

  constructor(options: TcpHostOptions) {
    const { job, ranks, ranksHere, unborn = [], guests = 0, address = "127.0.0.1", port = 0, report } = options;
    assert(job.secret.length === secretBytes, "a job's secret has 32 bytes");
    this.#options = options;
    this.handover = newHandover({ processes: ranksHere.length + guests, ranks });
    this.#handover = new Handover(this.handover);
    for (const [place, rank] of ranksHere.entries()) this.#places.set(rank, place);
    this.#here = ranksHere.map((rank) => (unborn.includes(rank) ? null : PeerState.ALIVE));
    this.#incarnations = Array.from({ length: ranks }, (_, rank) => options.incarnations?.[rank] ?? 0);
    for (const [rank, life] of this.#incarnations.entries()) if (life > 0) this.#sayOf(rank, PeerState.ALIVE);
    this.#reception = new Reception({
      job,
      service: ServiceCode.RANK,
      place: { address, port },
      received: (guest) => this.#received(guest),
      dropped: (reason) => report({ kind: "stranger", reason }),
    });
  }

  async listen(): Promise<Listening> {
    const listening = await this.#reception.listen();
    if (listening.ok) this.#port = listening.port;
    return listening;
  }

  get port(): number {
    return this.#port;
  }

  /** Where each rank's node listens, by rank; null: nowhere yet. Attempts made before it is known wait for it. */
  setAddressBook(addresses: readonly (Address | null)[]): void {
    this.#addresses = addresses;
    for (const pair of this.#pairs.values()) if (pair.wanted) this.#try(pair);
  }

  /** A message from a rank's thread. */
  handle(request: TcpRequest): void {
    if (this.#closed) return;
    const pair = this.#pair(request.from, request.to);
    // The rank has heard of the return before us.
    if (request.life > pair.life) this.#renew(pair, request.life);
    switch (request.kind) {
      case "tcp-connect":
        if (request.life === pair.life) this.#wanted(pair, request.generation);
        return;
      case "tcp-holds":
        this.#release(pair, { life: request.life, generation: request.generation - 1 });
        return;
      case "tcp-lost":
        this.#release(pair, request);
        return;
      case "tcp-bad-frame":
        if (request.life !== pair.life) return;
        pair.shut = true;
        this.#options.report({ kind: "bad-frame", from: request.from, to: request.to, reason: request.reason });
        return;
      default:
        unreachable(request);
    }
  }

  /** A rank of this node has begun: until then peers that call it are told to call again. */
  rankBorn(rank: number): void {
    this.#here[this.#places.get(rank)!] = PeerState.ALIVE;
  }

  /**
   * A rank of this node has ended in order, its thread is gone. Its last frames are still on their way, so its sockets stay
   * open; but not those on which it did not say farewell (they came too late): those peers call again, and are told.
   */
  rankFinished(rank: number): void {
    const process = this.#places.get(rank)!;
    this.#here[process] = PeerState.FINISHED;
    for (const pair of this.#pairs.values()) {
      if (pair.here !== rank) continue;
      this.#stop(pair);
      const farewell = this.#handover.farewell(process, pair.there);
      const isLast = pair.life === farewell.life && pair.generation === farewell.generation;
      this.#release(pair, isLast ? { ...farewell, generation: farewell.generation - 1 } : pair);
    }
  }

  /** A rank of another node will be here, in that place; `rankReturned` follows when it begins. */
  adopt(rank: number, place: number): void {
    for (const pair of this.#pairs.values()) if (pair.there === rank) this.#stop(pair);
    this.#places.set(rank, place);
    this.#here[place] = PeerState.DEAD;
    for (const [other, life] of this.#incarnations.entries())
      if (life > 0) this.#handover.say(place, other, this.#stateOf(other), life);
  }

  /** A rank of this node is elsewhere from now on; its thread may end later. `peerReturned` tells of its life there. */
  release(rank: number): void {
    this.#places.delete(rank);
    this.#stopTrying((pair) => pair.here === rank);
  }

  #stateOf(rank: number): PeerState {
    return this.#dead.has(rank) ? PeerState.DEAD : PeerState.ALIVE;
  }

  /** The thread of a rank of this node, or of one that was here, is gone, and not in order. */
  rankDied(rank: number): void {
    const place = this.#places.get(rank);
    if (place !== undefined) this.#here[place] = PeerState.DEAD;
    for (const pair of this.#pairs.values()) if (pair.here === rank) this.#release(pair, pair);
    this.#stopTrying((pair) => pair.here === rank);
  }

  /** A new life of a rank of this node is about to start here, after `rankDied` or `rankFinished`. */
  rankReturned(rank: number, incarnation: number): void {
    const process = this.#places.get(rank)!;
    assert(this.#here[process] !== PeerState.ALIVE, "a life begins when the one before it is over");
    this.#here[process] = PeerState.ALIVE;
    this.#incarnations[rank] = incarnation;
    this.#dead.delete(rank);
    for (const pair of this.#pairs.values()) {
      if (pair.here !== rank) continue;
      this.#release(pair, pair);
      this.#renew(pair, pair.life);
    }
    this.#handover.clear(process, this.#options.ranks);
  }

  /** The dispatcher has declared a rank of another node dead. */
  peerFailed(rank: number): void {
    this.#dead.add(rank);
    this.#sayOf(rank, PeerState.DEAD);
    this.#stopTrying((pair) => pair.there === rank && pair.life === this.#incarnations[rank]);
  }

  /** A rank of another node lives again, as that incarnation: connections to its old life are over. */
  peerReturned(rank: number, incarnation: number): void {
    if (this.#places.has(rank) || incarnation <= this.#incarnations[rank]!) return;
    this.#incarnations[rank] = incarnation;
    this.#dead.delete(rank);
    this.#sayOf(rank, PeerState.ALIVE);
    for (const pair of this.#pairs.values()) {
      if (pair.there !== rank) continue;
      if (pair.life < incarnation) this.#renew(pair, incarnation);
      this.#try(pair);
    }
  }

  /**
   * The network to those ranks is broken: connections end, and none is made until it is restored. Our ranks still use the
   * descriptors, so that sockets are shut down, not closed; both nodes are told, so that nothing passes in either direction.
   */
  cut(ranks: readonly number[]): void {
    for (const rank of ranks) this.#cut.add(rank);
    for (const pair of this.#pairs.values()) {
      if (!this.#cut.has(pair.there)) continue;
      for (const { socket } of pair.held) socket.end();
      const { attempt } = pair;
      pair.attempt = null;
      attempt?.destroy();
    }
  }

  restore(ranks: readonly number[]): void {
    for (const rank of ranks) this.#cut.delete(rank);
    for (const pair of this.#pairs.values()) if (ranks.includes(pair.there)) this.#try(pair);
  }

  /** Every thread of this node is gone. */
  close(): void {
    this.#closed = true;
    this.#reception.close();
    this.#stopTrying(() => true);
    for (const pair of this.#pairs.values()) this.#release(pair, pair);
  }

  #sayOf(rank: number, state: PeerState): void {
    for (const process of this.#places.values()) this.#handover.say(process, rank, state, this.#incarnations[rank]!);
  }

  /**
   * The rank has no connection newer than `generation`. It may just not have looked: one that was handed over meanwhile, or is
   * being made, must not be thrown away for yet another. (Ranks that end their work together connect to each other at once,
   * and a peer that has already gone cannot be asked again.)
   */
  #wanted(pair: Pair, generation: number): void {
    const isMade = pair.held.some((held) => held.life === pair.life && held.generation === pair.generation);
    if (isMade && pair.generation > generation) {
      this.#options.ring(this.#places.get(pair.here)!);
      return;
    }
    if (!pair.wanted) pair.wantedSince = Date.now();
    pair.wanted = true;
    if (pair.generation > generation && pair.attempt === null && pair.retry === null) {
      this.#tryLater(pair, "a connection of theirs is being made");
    } else this.#try(pair);
  }

  #pair(here: number, there: number): Pair {
    const key = here * this.#options.ranks + there;
    let pair = this.#pairs.get(key);
    if (pair === undefined) {
      pair = {
        here,
        there,
        life: this.#incarnations[there]!,
        generation: 0,
        held: [],
        wanted: false,
        attempt: null,
        retry: null,
        retryMs: retryMsMin,
        wantedSince: 0,
        reported: false,
        shut: false,
      };
      this.#pairs.set(key, pair);
    }
    return pair;
  }

  /** From now on it is about that life of the peer, or about another of our own; the rank still has to release its old connection. */
  #renew(pair: Pair, life: number): void {
    this.#stop(pair);
    pair.life = life;
    pair.generation = 0;
    pair.shut = false;
  }

  #release(pair: Pair, upTo: ConnectionName): void {
    for (const held of pair.held) if (isUpTo(held, upTo)) held.socket.destroy();
    pair.held = pair.held.filter((held) => !isUpTo(held, upTo));
  }

  // Connecting

  #try(pair: Pair): void {
    const address = this.#addresses[pair.there] ?? null;
    if (!pair.wanted || pair.attempt !== null || pair.retry !== null || address === null) return;
    if (this.#cut.has(pair.there)) return;
    if (this.#dead.has(pair.there) || pair.life !== this.#incarnations[pair.there]) return;
    const { job } = this.#options;
    const incarnation = this.#incarnations[pair.here]!;
    const generation = pair.generation + 1;
    const { here: from, there: to, life: wanted } = pair;
    const hello: Hello = { service: ServiceCode.RANK, from, to, incarnation, wanted, generation };
    const attempt = call({ ...address, job, hello }, (answer, reason) => {
      if (pair.attempt !== attempt) {
        attempt.destroy();
        return;
      }
      pair.attempt = null;
      if (answer === null) this.#tryLater(pair, reason);
      else if (answer.incarnation !== pair.life) {
        attempt.destroy();
        this.#tryLater(pair, `incarnation ${answer.incarnation} of the rank is there, ${pair.life} is wanted`);
      } else this.#answered(pair, generation, answer, attempt);
    });
    pair.attempt = attempt;
  }

  #answered(pair: Pair, generation: number, answer: CallAnswer, socket: Socket): void {
    switch (answer.verdict) {
      case CallVerdict.WELCOME:
        if (generation > pair.generation) this.#establish(pair, generation, socket);
        else {
          // We have welcomed theirs meanwhile. Should it have broken before it was established, there is none.
          socket.destroy();
          this.#tryLater(pair, "the other side was connecting itself");
        }
        return;
      case CallVerdict.YIELD:
        // Theirs is on its way. Should it not arrive (perhaps it is one of which we never heard, because their answer got
        // lost), we ask again, with a higher number.
        socket.destroy();
        pair.generation = Math.max(pair.generation, answer.generation);
        this.#tryLater(pair, "the other side wants to connect itself");
        return;
      case CallVerdict.FINISHED:
        socket.destroy();
        pair.wanted = false;
        this.#handover.say(this.#places.get(pair.here)!, pair.there, PeerState.FINISHED, pair.life);
        this.#options.ring(this.#places.get(pair.here)!);
        return;
      case CallVerdict.ABSENT:
      case CallVerdict.UNLIKE:
        socket.destroy();
        this.#tryLater(pair, "the rank is not there");
        return;
      default:
        unreachable(answer.verdict);
    }
  }

  #tryLater(pair: Pair, reason: string): void {
    const forMs = Date.now() - pair.wantedSince;
    if (forMs >= unreachableMs && !pair.reported) {
      pair.reported = true;
      this.#options.report({ kind: "unreachable", from: pair.here, to: pair.there, forMs, reason });
    }
    pair.retry = setTimeout(() => {
      pair.retry = null;
      this.#try(pair);
    }, pair.retryMs);
    pair.retryMs = Math.min(pair.retryMs * 2, retryMsMax);
  }

  #stopTrying(which: (pair: Pair) => boolean): void {
    for (const pair of this.#pairs.values()) if (which(pair)) this.#stop(pair);
  }

  #stop(pair: Pair): void {
    pair.wanted = false;
    pair.retryMs = retryMsMin;
    pair.reported = false;
    if (pair.retry !== null) clearTimeout(pair.retry);
    pair.retry = null;
    const attempt = pair.attempt;
    pair.attempt = null;
    attempt?.destroy();
  }

  // Being connected to

  #received({ hello, socket, answer }: Guest): void {
    const incarnation = this.#incarnations[hello.to] ?? 0;
    socket.on("error", quiet);
    if (this.#cut.has(hello.from)) {
      socket.destroy();
      return;
    }
    const place = this.#places.get(hello.to);
    const isForUs = place !== undefined && hello.wanted === incarnation;
    if (!isForUs || hello.from >= this.#options.ranks || this.#places.has(hello.from) || !this.#isPresent(hello)) {
      refuse(socket, answer({ verdict: CallVerdict.ABSENT, incarnation, generation: 0 }));
      return;
    }
    const pair = this.#pair(hello.to, hello.from);
    const verdict = this.#judge(pair, hello, this.#here[place] ?? null);
    const bytes = answer({ verdict, incarnation, generation: pair.generation });
    if (verdict !== CallVerdict.WELCOME) refuse(socket, bytes);
    else {
      // Only when the answer is out: the frames of the rank's thread must come behind it.
      pair.generation = hello.generation;
      socket.write(bytes, (error) => {
        const isCurrent = pair.life === hello.incarnation && pair.generation === hello.generation;
        if (error || !isCurrent || incarnation !== this.#incarnations[hello.to]) socket.destroy();
        else this.#establish(pair, hello.generation, socket);
      });
    }
  }

  /** Is that the life of the rank that we know, and not dead? */
  #isPresent({ from, incarnation }: Hello): boolean {
    return incarnation === this.#incarnations[from] && !this.#dead.has(from);
  }

  #judge(pair: Pair, hello: Hello, state: PeerState | null): CallVerdict {
    if (pair.shut || pair.life !== hello.incarnation) return CallVerdict.ABSENT;
    if (state !== PeerState.ALIVE) return state === PeerState.FINISHED ? CallVerdict.FINISHED : CallVerdict.ABSENT;
    if (hello.generation <= pair.generation) return CallVerdict.YIELD;
    return pair.attempt !== null && pair.here < pair.there ? CallVerdict.YIELD : CallVerdict.WELCOME;
  }

  #establish(pair: Pair, generation: number, socket: Socket): void {
    const process = this.#places.get(pair.here)!;
    const fd = descriptorOf(socket);
    if (fd < 0 || this.#closed || this.#cut.has(pair.there) || this.#here[process] !== PeerState.ALIVE) {
      // Broken before its rank had it, or its rank has just ended: the other side will notice, and ask again.
      socket.destroy();
      if (pair.wanted && pair.attempt === null && pair.retry === null)
        this.#tryLater(pair, "the connection was closed");
      return;
    }
    this.#stop(pair);
    pair.generation = generation;
    socket.setNoDelay(true);
    socket.on("error", quiet);
    const name = { life: pair.life, generation };
    pair.held.push({ ...name, socket });
    this.#handover.give(process, pair.there, fd, name);
    this.#options.ring(process);
  }
}
