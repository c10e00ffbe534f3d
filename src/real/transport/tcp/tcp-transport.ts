/**
 * `Transport` between a rank and the ranks of other nodes: one link for each peer it has ever talked to, its sockets read
 * and written by this thread (socket-calls.ts). Connections are made by the node's main thread (tcp-host.ts), lazily: the
 * first packet to a peer asks for one and waits in the link until it is there.
 *
 * A look at the sockets is one system call: alternately a read from the link where something is expected (the one sent
 * to or heard from last) and a poll over all of them. A closed connection is only a hint: when anything is unread at the
 * other side the main thread is asked for a new one, and the streams continue. Not so when the peer has died: a new life
 * of it gets a new link, and nothing passes from the one to the other.
 */
import type { Pointer } from "../../../core/base/brand.ts";
import type { Identity } from "../../../core/base/identity.ts";
import type { Memory } from "../../../core/request/memory.ts";
import { BYTES, CONTEXT, KIND, PacketKind, type Sender, senderOf, TAG } from "../../../core/wire/packet.ts";
import type { Landing, Transport } from "../../../core/wire/transport.ts";
import { CLOSED, type SocketCalls } from "../sockets/socket-calls.ts";
import { FrameKind, frameBytes, headerBytes, pieceBytesMax, RECEIPT, signFrame, wholeLines } from "./frame.ts";
import { Handover, PeerState, type SharedHandover, type TcpRequest } from "./handover.ts";
import { BAD } from "./in-stream.ts";
import type { LinkSizes } from "./link-sizes.ts";
import { TcpLink } from "./tcp-link.ts";

interface TcpTransportOptions {
  /** Number of this process: its rank, where ranks have one process each. */
  readonly rank: number;
  readonly ranks: number;
  /** Index of this rank among the processes of its node. */
  readonly process: number;
  /** The node's memory: where connections have their buffers. */
  readonly memory: Memory;
  /** The program's buffers, when they are in another. */
  readonly buffers?: Memory;
  readonly handover: SharedHandover;
  /** Posts to the node's main thread: `TcpHost.handle`. */
  readonly tell: (request: TcpRequest) => void;
  /** Makes the socket calls, when the first connection is there. */
  readonly openCalls: () => SocketCalls;
  /** As whom it speaks: as the only replica of the rank with its number, in its first life, unless given. */
  readonly identity?: Identity;
  /** Of the link to a peer: `linkSizesBetween`. */
  readonly sizesOf: (peer: number) => LinkSizes;
}

/** Reads from one link in a row before the others are asked. */
const streakMax = 16;
/** Reads of a landing piece in one look. */
const landingReadsMax = 8;
/** How long a rank without `poll` may sleep before it looks at its sockets: longer and longer while nothing comes. */
const napMsMin = 1;
const napMsMax = 16;

export class TcpTransport implements Transport {
  readonly words: Int32Array;
  readonly payloadBytesMax: number;
  payload = 0;
  readonly #rank: number;
  readonly #ranks: number;
  readonly #process: number;
  readonly #memory: Memory;
  readonly #buffers: Memory;
  readonly #handover: Handover;
  readonly #tell: (request: TcpRequest) => void;
  readonly #openCalls: () => SocketCalls;
  readonly #sender: Sender;
  readonly #sizesOf: (peer: number) => LinkSizes;
  #landing: Landing | null = null;
  #calls: SocketCalls | null = null;

  readonly #links: (TcpLink | null)[];
  /** The life of each peer that this process has heard of: its link is to that life. */
  readonly #lives: Int32Array;
  readonly #open: TcpLink[] = [];
  readonly #byFd: (TcpLink | undefined)[] = [];
  /** How often bytes were read: a large message moves for a while before there is a packet to show. */
  reads = 0;
  /** Version of the handover that we have seen. */
  #seen = 0;

  /** The packet reserved last. */
  #reserved = -1;
  /** The packet shown by `peek`, and its link. */
  #packet = -1;
  /** The link read last; only it can have unseen packets in its buffer. */
  #current: TcpLink | null = null;
  /** Where the next packet is expected. */
  #expected: TcpLink | null = null;
  /** Links that the last poll found ready and that have not been read since. */
  readonly #ready: TcpLink[] = [];
  #polls = false;
  #streak = 0;
  #turn = 0;
  #napMs = napMsMin;
  /** Links whose `blocked` may be set. */
  #anyBlocked = false;

  constructor(options: TcpTransportOptions) {
    const { memory, sizesOf, identity = { rank: options.rank, replica: 0, incarnation: 0 } } = options;
    this.words = new Int32Array(memory.bytes.buffer);
    this.#rank = options.rank;
    this.#ranks = options.ranks;
    this.#process = options.process;
    this.#memory = memory;
    this.#buffers = options.buffers ?? memory;
    this.#handover = new Handover(options.handover);
    this.#tell = options.tell;
    this.#openCalls = options.openCalls;
    this.#sender = senderOf(identity);
    this.#sizesOf = sizesOf;
    this.#links = new Array(options.ranks).fill(null);
    this.payloadBytesMax = this.#links.reduce((max, _, peer) => Math.max(max, sizesOf(peer).eagerBytesMax), 0);
    this.#lives = Int32Array.from(this.#links, (_, peer) => this.#handover.presentLife(this.#process, peer));
  }

  /** The engine says where large pieces are to be written. Without it they are delivered as packets. */
  setLanding(landing: Landing): void {
    this.#landing = landing;
    for (const link of this.#links) if (link !== null) link.in.landing = landing;
  }

  eagerBytesMax(to: number): number {
    return this.#sizesOf(to).eagerBytesMax;
  }

  // Sending

  #linkTo(peer: number): TcpLink {
    return this.#links[peer] ?? this.#makeLink(peer);
  }

  #makeLink(peer: number): TcpLink {
    const life = this.#lives[peer]!;
    const link = new TcpLink({
      rank: this.#rank,
      peer,
      life,
      memory: this.#memory,
      buffers: this.#buffers,
      words: this.words,
      sizes: this.#sizesOf(peer),
      former: this.#links[peer]!,
    });
    link.in.landing = this.#landing;
    if (this.#handover.state(this.#process, peer, life) !== PeerState.ALIVE) link.swallow();
    this.#links[peer] = link;
    return link;
  }

  reserve(to: number, payloadBytes: number): number {
    const packet = this.#linkTo(to).reserve(payloadBytes);
    this.payload = (packet << 2) + headerBytes;
    this.#reserved = packet;
    return packet;
  }

  commit(to: number, as = this.#sender): void {
    const link = this.#links[to]!;
    signFrame(this.words, this.#reserved, as);
    link.commit();
    this.#send(link);
  }

  /** Sends the frames of the link; asks for a connection when there is none. */
  #send(link: TcpLink): void {
    if (link.isOpen) {
      if (link.blocked) return;
      const outcome = link.flush(this.#calls!);
      if (outcome === CLOSED) this.#lose(link);
      else if (outcome !== 0) this.#anyBlocked = true;
      if (this.#expected !== link) {
        this.#expected = link;
        this.#streak = 0;
      }
    } else if (!link.asked && !link.swallows) {
      link.asked = true;
      this.#tell({ kind: "tcp-connect", ...this.#nameOf(link) });
    }
  }

  /** Its connection, for the main thread. */
  #nameOf({ peer, life, generation }: TcpLink): { from: number; to: number; life: number; generation: number } {
    return { from: this.#rank, to: peer, life, generation };
  }

  push(to: number, receive: number, from: number, offset: number, bytes: number, as = this.#sender): number {
    const link = this.#linkTo(to);
    if (link.swallows) return bytes;
    const took = link.out.takeLent(receive, from, offset);
    if (took >= 0) return took;
    if (bytes <= link.eagerBytesMax) return this.#pushCopied(link, receive, from, offset, bytes, as);
    const piece = Math.min(bytes, pieceBytesMax);
    const body = wholeLines(piece);
    const tail = piece - body;
    // The tail's frame must find room as well.
    if (!link.out.canLend || link.out.reserve(headerBytes + (tail === 0 ? 0 : frameBytes(tail))) < 0) return 0;
    const packet = link.out.reserve(headerBytes);
    this.#fragment(packet, receive, offset, body, as);
    this.words[packet + RECEIPT] = tail === 0 ? 1 : 0;
    link.commitFrame(body);
    const isInNode = from >= 0 && this.#buffers === this.#memory;
    const at = isInNode ? from + offset : -1;
    const view = isInNode ? null : this.#buffers.view(from as Pointer, offset + body).subarray(offset);
    const lent = link.out.lend({ at, view, bytes: body, receive, from, offset });
    if (tail !== 0) {
      this.#fragmentCopied(link, receive, from, offset + body, tail, 1, as);
      link.out.extendLent(lent, tail);
    }
    this.#send(link);
    return 0;
  }

  #pushCopied(link: TcpLink, receive: number, from: number, offset: number, bytes: number, as: Sender): number {
    if (!this.#fragmentCopied(link, receive, from, offset, bytes, 0, as)) return 0;
    this.#send(link);
    return bytes;
  }

  #fragmentCopied(
    link: TcpLink,
    receive: number,
    from: number,
    offset: number,
    bytes: number,
    receipt: number,
    as: Sender,
  ): boolean {
    const packet = link.reserve(bytes);
    if (packet < 0) return false;
    this.#buffers.toPayload((packet << 2) + headerBytes, from as Pointer, offset, bytes);
    this.#fragment(packet, receive, offset, bytes, as);
    this.words[packet + RECEIPT] = receipt;
    link.commit();
    return true;
  }

  #fragment(packet: number, receive: number, offset: number, bytes: number, as: Sender): void {
    const words = this.words;
    words[packet + KIND] = PacketKind.FRAGMENT;
    signFrame(words, packet, as);
    words[packet + CONTEXT] = receive;
    words[packet + TAG] = offset;
    words[packet + BYTES] = bytes;
  }

  // Receiving

  peek(): number {
    if (this.#packet >= 0) return this.#packet;
    if (this.#handover.version(this.#process) !== this.#seen) this.#pickUp();
    if (this.#current !== null) {
      const packet = this.#nextOf(this.#current);
      if (packet >= 0) return packet;
    }
    return this.#look();
  }

  release(): void {
    this.#packet = -1;
    this.#current!.in.release();
  }

  #nextOf(link: TcpLink): number {
    const packet = link.next();
    if (packet === BAD) {
      this.#reject(link);
      return -1;
    }
    this.#packet = packet < 0 ? -1 : packet;
    if (link.giveReceipt()) this.#send(link);
    if (link.in.finished) this.#peerFinished(link);
    return this.#packet;
  }

  /**
   * The peer is ending and waits to hear that we have everything. When the receipt cannot leave at once we hang up: it connects
   * again, and every connection begins with how far we have read.
   */
  #peerFinished(link: TcpLink): void {
    const isTold = !link.in.receiptDue && link.hasSaidAll;
    if (!link.swallows) link.swallow();
    if (!isTold && link.isOpen) this.#lose(link);
  }

  /** One look at the sockets. */
  #look(): number {
    if (this.#anyBlocked) this.#unblock();
    if (this.#open.length === 0) return -1;
    if (this.#ready.length !== 0) return this.#readReady();
    if (this.#open.length === 1) return this.#readFrom(this.#open[0]!);
    this.#polls = !this.#polls;
    if (!this.#polls && this.#expected?.isOpen && this.#streak < streakMax) return this.#readFrom(this.#expected);
    this.#streak = 0;
    this.#gather(0);
    return this.#readReady();
  }

  #readReady(): number {
    for (let link = this.#ready.pop(); link !== undefined; link = this.#ready.pop()) {
      const packet = this.#readFrom(link);
      if (packet >= 0) return packet;
    }
    return -1;
  }

  #readFrom(link: TcpLink): number {
    for (let reads = landingReadsMax; reads > 0; reads--) {
      if (!link.isOpen) return -1;
      const took = link.read(this.#calls!);
      if (took === CLOSED) this.#lose(link);
      if (took <= 0) return -1;
      this.#napMs = napMsMin;
      this.reads++;
      if (this.#expected === link) this.#streak++;
      else {
        this.#expected = link;
        this.#streak = 0;
      }
      this.#current = link;
      if (link.blocked) this.#anyBlocked = true;
      const packet = this.#nextOf(link);
      if (packet >= 0) return packet;
    }
    return -1;
  }

  /** Which links can be read: by a poll, or, where there is none, by taking turns. */
  #gather(timeoutMs: number): void {
    const calls = this.#calls!;
    const found = calls.wait(timeoutMs);
    if (found < 0) {
      this.#turn = (this.#turn + 1) % this.#open.length;
      this.#ready.push(this.#open[this.#turn]!);
      return;
    }
    for (let i = 0; i < found; i++) {
      const link = this.#byFd[calls.readyAt(i)];
      if (link !== undefined) this.#ready.push(link);
    }
  }

  #unblock(): void {
    this.#anyBlocked = false;
    for (const link of this.#open) {
      if (!link.blocked) continue;
      const outcome = link.flush(this.#calls!);
      if (outcome === CLOSED) {
        // The list has changed under us.
        this.#lose(link);
        this.#anyBlocked = true;
        return;
      }
      if (link.blocked) this.#anyBlocked = true;
    }
  }

  // Connections

  #pickUp(): void {
    this.#seen = this.#handover.version(this.#process);
    for (let peer = 0; peer < this.#ranks; peer++) {
      const life = this.#lives[peer]!;
      const generation = this.#handover.generation(this.#process, peer);
      const state = this.#handover.state(this.#process, peer, life);
      // One to a life of which we have not heard yet waits until we have, see `peerReturned`. (The life is read last: as long
      // as it is ours, so is the generation.)
      const isOurs = this.#handover.life(this.#process, peer) === life;
      if (isOurs && generation > (this.#links[peer]?.generation ?? 0)) this.#take(this.#linkTo(peer), generation);
      const link = this.#links[peer]!;
      if (state !== PeerState.ALIVE && link !== null && !link.swallows) this.#giveUp(link, state);
    }
  }

  #take(link: TcpLink, generation: number): void {
    // A peer that is ending wants to hear how far it was read; a peer that is dead or sent wrong frames does not.
    if (!link.swallows || link.in.finished) this.#attach(link, generation);
    else {
      link.generation = generation;
      this.#tell({ kind: "tcp-lost", ...this.#nameOf(link) });
    }
  }

  #attach(link: TcpLink, generation: number): void {
    const fd = this.#handover.fd(this.#process, link.peer, { life: link.life, generation });
    if (fd < 0) return;
    if (link.isOpen) this.#detach(link);
    if (generation > 1) this.#tell({ kind: "tcp-holds", ...this.#nameOf(link), generation });
    if (this.#calls === null) {
      this.#calls = this.#openCalls();
      this.#handover.wakeBy(this.#process, this.#calls.wakeFd);
    }
    const outcome = link.attach(this.#calls, fd, generation);
    this.#open.push(link);
    this.#byFd[fd] = link;
    if (outcome === CLOSED) this.#lose(link);
    else if (link.out.unsent) this.#send(link);
  }

  #detach(link: TcpLink): void {
    this.#byFd[link.fd] = undefined;
    this.#open.splice(this.#open.indexOf(link), 1);
    link.detach(this.#calls!);
  }

  /** The connection is closed. When the peer has not read everything there must be another. */
  #lose(link: TcpLink): void {
    this.#detach(link);
    this.#tell({ kind: "tcp-lost", ...this.#nameOf(link) });
    if (link.out.unread) this.#send(link);
  }

  /** A wrong frame has come: the connection ends. Another follows; after several of them the peer is given up. */
  #reject(link: TcpLink): void {
    const { reason } = link;
    if (!link.swallows && link.mend()) {
      if (link.isOpen) this.#lose(link);
      this.#send(link);
      return;
    }
    this.#giveUp(link, PeerState.DEAD);
    this.#tell({ kind: "tcp-bad-frame", ...this.#nameOf(link), reason });
  }

  /** Nothing more goes to that peer. Frames of a peer that ended in order are still read, those of a dead one are not. */
  #giveUp(link: TcpLink, state: PeerState): void {
    link.swallow();
    if (link.isOpen) this.#lose(link);
    if (state === PeerState.DEAD && this.#current === link && this.#packet < 0) this.#current = null;
  }

  // Beyond `Transport`: for the process, its waiting, and news of deaths.

  /** The dispatcher has declared that life of a rank dead. A process that started later may know of the next life already. */
  peerFailed(rank: number, incarnation = this.#lives[rank]!): void {
    if (incarnation < this.#lives[rank]!) return;
    const link = this.#links[rank] ?? this.#makeLink(rank);
    if (!link.swallows || link.isOpen) this.#giveUp(link, PeerState.DEAD);
  }

  /**
   * That rank lives again, as that incarnation: from now on packets go to and come from the new life alone. Of the old one
   * nothing is left, not even a packet that `peek` has shown.
   */
  peerReturned(rank: number, incarnation: number): void {
    if (incarnation <= this.#lives[rank]!) return;
    this.#lives[rank] = incarnation;
    const former = this.#links[rank]!;
    if (former !== null) {
      if (former.isOpen) this.#detach(former);
      if (this.#current === former) {
        this.#current = null;
        this.#packet = -1;
      }
      if (this.#expected === former) this.#expected = null;
      this.#makeLink(rank);
    }
    // We hold nothing of earlier lives; and a connection to this one may have been there before the news.
    this.#tell({ kind: "tcp-holds", from: this.#rank, to: rank, life: incarnation, generation: 0 });
    this.#seen = this.#handover.version(this.#process) - 1;
  }

  /** Is a packet shown that has not been released? */
  get isShowing(): boolean {
    return this.#packet >= 0;
  }

  /** Bytes that have not been given to a socket. */
  get unsent(): boolean {
    return this.#links.some((link) => link !== null && !link.swallows && link.out.unsent);
  }

  /** Is everything that was sent with the system, on connections that are open? Confirmations are late, and are not waited for. */
  get isDelivered(): boolean {
    const isOnItsWay = ({ out, isOpen }: TcpLink): boolean => !out.unsent && (isOpen || !out.unconfirmed);
    return this.#links.every((link) => link === null || link.swallows || isOnItsWay(link));
  }

  /**
   * The process ends in order. True when it may: every peer has all that we sent, or has itself ended. Until then progress is
   * needed, and another call after it. A connection that breaks later costs nothing: a peer that asks for another is told by the
   * main thread that we have ended.
   *
   * No process waits for ever. A peer that makes progress confirms at once, because FINISHED asks for it; when two are ending,
   * each hears FINISHED from the other, and a process that is ending does not need the frames it has not read.
   */
  leave(): boolean {
    let isDone = true;
    for (const link of this.#links) if (link !== null && !this.#isDoneWith(link)) isDone = false;
    if (isDone) this.#sayFarewells();
    return isDone;
  }

  #isDoneWith(link: TcpLink): boolean {
    if (link.swallows) return true;
    // Peers without a connection, and without any frame from this process, hear of it from the main thread.
    if (!link.saidFinished && (link.isOpen || link.out.unread)) {
      link.saidFinished = link.say(FrameKind.FINISHED);
      if (link.saidFinished) link.out.finish();
      this.#send(link);
    }
    return !link.out.unconfirmed;
  }

  /** Connections that stay open until the node leaves, so that the last frames arrive; the main thread closes the others. */
  #sayFarewells(): void {
    for (const link of this.#open) {
      const isTold = link.saidFinished || link.in.finished;
      if (isTold && link.hasSaidAll) this.#handover.sayFarewell(this.#process, link.peer, link);
    }
  }

  /** True while there are sockets to look at: spinning and sleeping must not forget them. */
  get hasSockets(): boolean {
    return this.#open.length !== 0;
  }

  /** True when `sleep` wakes up for packets; otherwise sleep on the bell, at most `nextNapMs`. */
  get canSleep(): boolean {
    return this.#open.length !== 0 && this.#calls!.wakeFd >= 0;
  }

  /** How long to sleep on the bell where `canSleep` is false. All sockets are looked at afterwards. */
  nextNapMs(): number {
    if (this.#open.length === 0) return Number.POSITIVE_INFINITY;
    this.#ready.push(...this.#open);
    const nap = this.#napMs;
    this.#napMs = Math.min(nap * 2, napMsMax);
    return nap;
  }

  /** Sleeps until a socket can be used or a neighbour calls `Handover.wake`, at most that long (and at most 100 ms). */
  sleep(timeoutMs: number): void {
    if (!this.canSleep || this.#ready.length !== 0) return;
    this.watchBlocked(true);
    this.#gather(timeoutMs);
    this.watchBlocked(false);
  }

  // For a thread that sleeps over the sockets of several processes.

  /** A descriptor that can be read when a socket can be used, or after `Handover.wake`; −1: there is none yet, or never. */
  get readyFd(): number {
    return this.#calls?.readyFd ?? -1;
  }

  /** Shall sockets that could not take all that was sent end a sleep when they can? */
  watchBlocked(watch: boolean): void {
    if (!this.#anyBlocked) return;
    for (const link of this.#open) if (link.blocked) this.#calls!.watchWritable(link.fd, watch);
  }

  /** `readyFd` can be read: finds out why. */
  collect(): void {
    if (this.#ready.length === 0) this.#gather(0);
  }

  /** Calls back once, from the event loop, when a socket can be read; the result ends the watch. `null`: it cannot. */
  onReady(callback: () => void): (() => void) | null {
    // Frames that wait to be written are not watched there: look again soon.
    return this.#open.length === 0 || this.#anyBlocked ? null : this.#calls!.onReady(callback);
  }

  close(): void {
    for (const link of [...this.#open]) this.#detach(link);
    this.#calls?.end();
  }

  // Memory is not shared between nodes.

  shares(): boolean {
    return false;
  }
  fetch(): boolean {
    return false;
  }
  fetched(): boolean {
    return false;
  }
  unfetch(): void {}
  help(): void {}
  put(): void {}
}
