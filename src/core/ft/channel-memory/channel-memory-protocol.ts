/**
 * Channel memories in one rank ("MPICH-V", docs/papers.md): every message goes to the home memory of its receiver and comes from there, so
 * any number of ranks may fall, and no rank ever has to speak to another (docs/adr/0046).
 *
 *   sends      are copied, said to the home of their receiver, and kept until it confirms them (rank/memory-sends.ts, post-box.ts)
 *   receives   get what the own home says, in its order, which is the same for every life (rank/deliveries.ts)
 *   choices    are events of the own home; a message to another memory, a line of output, waits until they are there
 *              (rank/event-stream.ts)
 *
 * A life that is not the first is told by each memory which of its messages are there, and drops those when the program makes them again;
 * its home tells it what earlier lives have chosen, and gives it their messages in their order.
 */
import type { RecordId, WorldRank } from "../../base/brand.ts";
import { lives } from "../../base/saved-classes.ts";
import { type Arrival, Pin, unordered } from "../../request/decisions.ts";
import { R_CONTEXT, R_SEQUENCE, RecordFlag } from "../../request/records.ts";
import type { ClientEnd } from "../../service-channel/channel.ts";
import { DeterminantLog } from "../determinants/determinant-log.ts";
import { LoggedReceives } from "../determinants/logged-receives.ts";
import { Replay } from "../determinants/replay.ts";
import { PassThrough } from "../pass-through.ts";
import type { Beginning, KeptPayload, ProtocolPorts, Write } from "../protocol.ts";
import { FromMemory, frameHeadWords, ToMemory } from "./frames.ts";
import { type MemoryLimits, memoryOf } from "./limits.ts";
import { Deliveries } from "./rank/deliveries.ts";
import { EventStream } from "./rank/event-stream.ts";
import { type FrameTaker, Inbox } from "./rank/inbox.ts";
import { MemorySends } from "./rank/memory-sends.ts";
import { PostBox, type PostedItem } from "./rank/post-box.ts";
import { ReplayedChoices } from "./rank/replayed-choices.ts";

/** Contexts of the program's own messages are even; those of collectives and of the runtime are odd. */
const isOfProgram = (context: number): boolean => (context & 1) === 0;

export interface ChannelMemoryOptions {
  /** To each memory. */
  readonly ends: readonly ClientEnd[];
  readonly limits: MemoryLimits;
  /** The home memory has the mark of that checkpoint, and all that is before it. */
  marked(checkpoint: number): void;
  /** One number: the calls that the process has passed, for the observer of its progress. */
  readonly passed?: Float64Array;
}

/** Amounts of one rank. */
export interface Remembered {
  /** Messages that its program sent, and those of them that were with their memories already. */
  readonly messages: number;
  readonly silent: number;
  readonly determinantBytes: number;
}

export class ChannelMemoryProtocol extends PassThrough {
  static readonly unsaved = { options: null, takers: null, lastWrite: -1, whenCaughtUp: null, passed: null };
  override readonly deathEndsRequests = false;
  override readonly peersSpeak = false;
  override readonly mayJudgeCollectives = false;
  override readonly finishedServe = true;
  override readonly hasFarewell = false;
  private readonly ports: ProtocolPorts;
  private readonly options: ChannelMemoryOptions;
  private readonly boxes: readonly PostBox[];
  private readonly inboxes: readonly Inbox[];
  private readonly takers: readonly FrameTaker[];
  private readonly home: number;
  private readonly events: EventStream;
  private readonly log: DeterminantLog;
  private readonly replay = new Replay();
  private readonly sends: MemorySends;
  private readonly deliveries: Deliveries;
  private readonly receives: LoggedReceives;
  private readonly known: ReplayedChoices;
  /** Senders and numbers of messages that the image has without all bytes. */
  private broken: number[] = [];
  override callsPassed = 0;
  private receivesPassed = 0;
  /** Shows `callsPassed`. */
  private readonly passed: Float64Array;
  /** The write that was asked about last, and the events that must be stable before it. */
  private lastWrite = -1;
  private writeTicket = 0;
  /** Null: it has caught up, or never fell. */
  private whenCaughtUp: (() => void) | null = null;

  constructor(options: ChannelMemoryOptions, ports: ProtocolPorts) {
    super();
    const { ends, limits } = options;
    this.ports = ports;
    this.options = options;
    this.home = memoryOf(ports.rank, ends.length);
    this.boxes = ends.map((end, memory) => this.newBox(end, memory === this.home, limits));
    this.inboxes = ends.map((end) => new Inbox(end));
    this.takers = ends.map((_, memory) => this.newTaker(memory));
    const home = this.boxes[this.home]!;
    this.events = new EventStream(home);
    this.log = new DeterminantLog(ports.rank, this.events);
    this.sends = new MemorySends(ports, (rank) => this.boxes[memoryOf(rank, ends.length)]!);
    this.deliveries = new Deliveries(ports, { home, taken: (source, sequence) => this.sayTaken(source, sequence) });
    this.receives = new LoggedReceives(ports.records, this.log, this.replay, false);
    this.known = new ReplayedChoices(this.log, this.replay);
    this.passed = options.passed ?? new Float64Array(1);
  }

  private newBox(end: ClientEnd, isHome: boolean, { pieceBytesMax }: MemoryLimits): PostBox {
    const { memory } = this.ports;
    return new PostBox(
      end,
      { pieceBytesMax, isHome },
      {
        memory,
        isStable: (ticket) => this.log.isStable(ticket),
        confirmed: (posted) => this.confirmed(posted),
      },
    );
  }

  private newTaker(memory: number): FrameTaker {
    return {
      take: (frame) => this.take(memory, frame),
      placeOf: (ticket, offset, bytes) => this.deliveries.placeOf(ticket, offset, bytes),
      pieceCame: (ticket, offset, bytes) => this.deliveries.pieceCame(ticket, offset, bytes),
    };
  }

  override get choices(): ReplayedChoices {
    return this.known;
  }

  // Lives

  override begin({ incarnation, incarnations, caughtUp }: Beginning): void {
    if (incarnation === 0) return;
    this.whenCaughtUp = caughtUp;
    this.known.isKnown = false;
    this.events.beginLife();
    this.sends.beginLife();
    for (const box of this.boxes) box.beginLife();
    this.broken = this.deliveries.beginLife(incarnations);
  }

  /** It has seen again all that it saw, and made again all that others have of it. */
  private checkCaughtUp(): void {
    if (this.whenCaughtUp === null || !this.known.isKnown || !this.replay.isOver) return;
    if (this.boxes.some(({ isClosed }) => isClosed) || !this.sends.isRepeated) return;
    const caughtUp = this.whenCaughtUp;
    this.whenCaughtUp = null;
    caughtUp();
  }

  // Words of memories

  override progress(): boolean {
    let moved = false;
    const { inboxes, boxes, takers } = this;
    const { ends } = this.options;
    // By index: this is asked again and again while a process waits.
    for (let memory = 0; memory < inboxes.length; memory++) {
      ends[memory]!.move();
      if (inboxes[memory]!.read(takers[memory]!)) moved = true;
      if (boxes[memory]!.progress()) moved = true;
    }
    if (moved && this.whenCaughtUp !== null) this.checkCaughtUp();
    return moved;
  }

  /** False: there is no room for it now. */
  private take(memory: number, frame: Int32Array): boolean {
    // Not by a pattern: those walk through an iterator.
    const kind = frame[1];
    if (kind === FromMemory.MESSAGE) return this.deliveries.deliver(frame);
    const [, , a, b, c] = frame as unknown as readonly number[];
    switch (kind) {
      case FromMemory.HELD:
        this.sends.hearHeld(a!, frame.subarray(frameHeadWords + 1));
        return true;
      case FromMemory.READY:
        this.boxes[memory]!.open((dest, sequence) => this.sends.isHeld(dest, sequence));
        if (memory === this.home) this.resume();
        return true;
      case FromMemory.EVENT:
        this.hearEvent(a!, frame);
        return true;
      case FromMemory.EVENTS_END:
        this.hearEventsEnd();
        return true;
      case FromMemory.TAKEN:
        if (this.deliveries.passEntry(a!)) this.sends.taken(b!, c!);
        return true;
      case FromMemory.PIECE:
        this.deliveries.takePiece(frame);
        return true;
      default:
        throw new Error(`Cannot understand channel memory ${memory}: it says a frame of kind ${kind}`);
    }
  }

  /** To a process of the home memory that speaks for the first time: how far this life has come. */
  private resume(): void {
    this.deliveries.askAgain();
    const { position } = this.deliveries;
    this.boxes[this.home]!.addFirst([ToMemory.RESUME, position, this.events.born, ...this.broken]);
  }

  private hearEvent(number: number, frame: Int32Array): void {
    if (this.known.isKnown || number < this.events.born) return;
    this.events.heard(number);
    const words = frame.subarray(frameHeadWords + 1);
    this.replay.add(this.ports.rank, Int32Array.of(2 + words.length, this.ports.rank, ...words));
  }

  private hearEventsEnd(): void {
    if (this.known.isKnown) return;
    this.known.isKnown = true;
    this.ports.pinPosted((receive) => this.receives.pinOf(receive));
    this.checkCaughtUp();
  }

  private confirmed(posted: PostedItem): void {
    if (posted.kind === "message") {
      if (posted.bytes > 0) this.ports.memory.free(posted.pointer);
      return;
    }
    const [kind, number] = posted.words;
    if (kind === ToMemory.EVENT) this.events.confirmed(number!);
    else if (kind === ToMemory.MARK) this.options.marked(number!);
  }

  private sayTaken(source: number, sequence: number): void {
    const words = [ToMemory.TAKEN, source, sequence];
    this.boxes[memoryOf(source, this.boxes.length)]!.addWords(words, this.log.ticket());
  }

  /** Whoever asks waits until it is not. */
  override get isBusy(): boolean {
    for (const box of this.boxes) box.urge();
    return this.boxes.some(({ isEmpty }) => !isEmpty);
  }

  // The program's messages

  override mayPass(): boolean {
    return false;
  }

  private pass(): void {
    this.passed[0] = ++this.callsPassed;
  }

  override sendPosted(send: RecordId): boolean {
    const { records } = this.ports;
    if (records.get(send, R_SEQUENCE) === unordered) return false;
    if (isOfProgram(records.get(send, R_CONTEXT))) this.replay.passed();
    this.pass();
    this.sends.post(send, this.log.ticket());
    return true;
  }

  override sendMayComplete(send: RecordId): boolean {
    if (this.ports.records.hasFlag(send, RecordFlag.KEPT)) this.deliveries.delivered(send);
    return true;
  }

  override lend(send: RecordId): boolean {
    return this.deliveries.lend(send);
  }

  override receivePosted(receive: RecordId): Pin {
    const { records } = this.ports;
    if (!isOfProgram(records.get(receive, R_CONTEXT))) return Pin.FREE;
    this.replay.passed();
    if (this.whenCaughtUp !== null) this.checkCaughtUp();
    this.pass();
    return this.receives.posted(receive, ++this.receivesPassed);
  }

  override arrived(words: Int32Array, packet: number): Arrival {
    return this.deliveries.arrived(words, packet);
  }

  override matched(receive: RecordId, source: WorldRank, sequence: number): void {
    this.receives.matched(receive, source, sequence);
  }

  override mayCancel(): boolean {
    return this.known.isKnown;
  }

  override cancelling(receive: RecordId, isMatched: boolean): boolean {
    return this.receives.cancelling(receive, isMatched);
  }

  // Output

  override writeMayLeave({ kind, number }: Write): boolean {
    if (number !== this.lastWrite) {
      this.lastWrite = number;
      this.writeTicket = kind === "file" ? this.log.ticketOfFile() : this.log.ticket();
    }
    return this.log.isStable(this.writeTicket);
  }

  // Checkpoints

  /** The mark is what this rank says that its image has; the position is the checkpoint's number, by which the mark is known. */
  override captured(checkpoint: number): number {
    this.log.closeRun();
    const { position, incomplete } = this.deliveries;
    const home = this.boxes[this.home]!;
    home.addWords([ToMemory.MARK, checkpoint, position, this.events.born, ...incomplete]);
    home.urge();
    return checkpoint;
  }

  override trimmedTo(checkpoint: number): void {
    this.boxes[this.home]!.addWords([ToMemory.FREE, checkpoint]);
  }

  override get kept(): KeptPayload[] {
    return [...this.boxes.flatMap(({ kept }) => kept), ...this.deliveries.kept];
  }

  override report(): Remembered {
    return { messages: this.sends.messages, silent: this.sends.silent, determinantBytes: this.log.bytes };
  }
}

lives({ ChannelMemoryProtocol });
