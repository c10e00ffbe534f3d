/**
 * A protocol around another one: writes down every call, and may hold back what the other lets go. For the conformance suite
 * and for tools that show the calls of a protocol; interposing is composition, here as everywhere.
 */
import type { RecordId, WorldRank } from "../base/brand.ts";
import type { ProcessName } from "../base/identity.ts";
import { Arrival, type Pin } from "../request/decisions.ts";
import { R_PEER, type Records } from "../request/records.ts";
import { CONTEXT, SEQUENCE, SOURCE } from "../wire/packet.ts";
import type { Choices } from "./choices.ts";
import type { Beginning, Cloning, KeptPayload, NewProtocol, Protocol, RestRounds, Write } from "./protocol.ts";
import type { SharedOperations } from "./shared-operations.ts";

export interface RecordedCall {
  readonly hook: keyof Omit<
    Protocol,
    | "deathEndsRequests"
    | "mayJudgeCollectives"
    | "peersSpeak"
    | "finishedServe"
    | "hasFarewell"
    | "choices"
    | "operations"
    | "cloning"
    | "isBusy"
    | "awaitsOthers"
    | "progress"
    | "mayPass"
    | "mayCancel"
    | "kept"
    | "callsPassed"
    | "report"
  >;
  /** The request it is about, or −1. */
  readonly request: number;
  /** The message it is about: world rank of its sender (of a send, its receiver), number in the channel; −1: none. */
  readonly source: number;
  readonly sequence: number;
  /** Of a message that has arrived; −1 otherwise. */
  readonly context: number;
  /** Of a send that was posted: has the protocol taken it? Of a message that is seen: is its receive over? */
  readonly answer: boolean | null;
}

/** What is held back; everything is let through while these say true. */
interface Gates {
  mayLeave: (send: RecordId) => boolean;
  mayComplete: (send: RecordId) => boolean;
  mayArrive: (source: number, sequence: number) => boolean;
}

/** What was called, and what is held back. Made before the process whose protocol it concerns. */
export class Recording {
  readonly calls: RecordedCall[] = [];
  readonly gates: Gates = { mayLeave: () => true, mayComplete: () => true, mayArrive: () => true };

  around(inner: NewProtocol): NewProtocol {
    return (ports) => new RecordingProtocol(inner(ports), this, ports.records);
  }
}

export class RecordingProtocol implements Protocol {
  readonly calls: RecordedCall[];
  readonly gates: Gates;
  readonly #inner: Protocol;
  readonly #records: Records | null;

  constructor(inner: Protocol, { calls, gates }: Recording, records: Records | null = null) {
    this.#inner = inner;
    this.#records = records;
    this.calls = calls;
    this.gates = gates;
  }

  get mayJudgeCollectives(): boolean {
    return this.#inner.mayJudgeCollectives;
  }

  get peersSpeak(): boolean {
    return this.#inner.peersSpeak;
  }

  get deathEndsRequests(): boolean {
    return this.#inner.deathEndsRequests;
  }

  get finishedServe(): boolean {
    return this.#inner.finishedServe;
  }

  get hasFarewell(): boolean {
    return this.#inner.hasFarewell;
  }

  get kept(): readonly KeptPayload[] {
    return this.#inner.kept;
  }

  get callsPassed(): number {
    return this.#inner.callsPassed;
  }

  get choices(): Choices | null {
    return this.#inner.choices;
  }

  get operations(): SharedOperations | null {
    return this.#inner.operations;
  }

  get sharesClocks(): boolean {
    return this.#inner.sharesClocks;
  }

  get sharesRevocations(): boolean {
    return this.#inner.sharesRevocations;
  }

  get cloning(): Cloning | null {
    return this.#inner.cloning;
  }

  get isBusy(): boolean {
    return this.#inner.isBusy;
  }

  get awaitsOthers(): boolean {
    return this.#inner.awaitsOthers;
  }

  get rests(): RestRounds | null {
    return this.#inner.rests;
  }

  settles(isSettling: boolean): void {
    this.#inner.settles(isSettling);
  }

  begin(beginning: Beginning): void {
    this.#note("begin");
    this.#inner.begin(beginning);
  }

  captured(checkpoint: number): number {
    this.#note("captured");
    return this.#inner.captured(checkpoint);
  }

  trimmedTo(checkpoint: number): void {
    this.#note("trimmedTo");
    this.#inner.trimmedTo(checkpoint);
  }

  report(): unknown {
    return this.#inner.report();
  }

  /** A recording shows every message: none takes the short way. */
  mayPass(): boolean {
    return false;
  }

  received(isAnySource: boolean, source: WorldRank, sequence: number): void {
    this.#note("received", -1, source, sequence);
    this.#inner.received(isAnySource, source, sequence);
  }

  sendPosted(send: RecordId): boolean {
    const dest = this.#records?.get(send, R_PEER) ?? -1;
    const answer = this.#inner.sendPosted(send);
    this.#note("sendPosted", send, dest, -1, answer);
    return answer;
  }

  /** Nor is one kept without a record. */
  keepsNow(): boolean {
    return false;
  }

  keepNow(): void {}

  meeting(): void {
    this.#note("meeting");
    this.#inner.meeting();
  }

  sendMayLeave(send: RecordId): boolean {
    const answer = this.gates.mayLeave(send) && this.#inner.sendMayLeave(send);
    this.#note("sendMayLeave", send, -1, -1, answer);
    return answer;
  }

  sendMayComplete(send: RecordId): boolean {
    const answer = this.gates.mayComplete(send) && this.#inner.sendMayComplete(send);
    this.#note("sendMayComplete", send, -1, -1, answer);
    return answer;
  }

  lend(send: RecordId, isForLong: boolean): boolean {
    const answer = this.#inner.lend(send, isForLong);
    this.#note("lend", send, -1, -1, answer);
    return answer;
  }

  receivePosted(receive: RecordId): Pin {
    this.#note("receivePosted", receive);
    return this.#inner.receivePosted(receive);
  }

  arrived(words: Int32Array, packet: number): Arrival {
    const source = words[packet + SOURCE]!;
    const sequence = words[packet + SEQUENCE]!;
    const answer = this.gates.mayArrive(source, sequence) ? this.#inner.arrived(words, packet) : Arrival.DROP;
    this.#note("arrived", -1, source, sequence, answer !== Arrival.DROP, words[packet + CONTEXT]!);
    return answer;
  }

  revoking(rank: number, context: number, bits: number): void {
    this.#inner.revoking(rank, context, bits);
  }

  putAside(envelope: RecordId): void {
    this.#inner.putAside(envelope);
  }

  mayCount(record: RecordId): boolean {
    return this.#inner.mayCount(record);
  }

  held(source: WorldRank, sequence: number): void {
    this.#note("held", -1, source, sequence);
    this.#inner.held(source, sequence);
  }

  matched(receive: RecordId, source: WorldRank, sequence: number): void {
    this.#note("matched", receive, source, sequence);
    this.#inner.matched(receive, source, sequence);
  }

  seen(source: WorldRank, sequence: number, isOver: boolean): void {
    this.#note("seen", -1, source, sequence, isOver);
    this.#inner.seen(source, sequence, isOver);
  }

  collectiveBegins(collective: RecordId): void {
    this.#note("collectiveBegins", collective);
    this.#inner.collectiveBegins(collective);
  }

  actsFor(collective: RecordId): void {
    this.#note("actsFor", collective);
    this.#inner.actsFor(collective);
  }

  actsForProgram(): void {
    this.#note("actsForProgram");
    this.#inner.actsForProgram();
  }

  collectiveSeen(collective: RecordId): void {
    this.#note("collectiveSeen", collective);
    this.#inner.collectiveSeen(collective);
  }

  mayCancel(request: RecordId): boolean {
    return this.#inner.mayCancel(request);
  }

  cancelling(receive: RecordId, isMatched: boolean): boolean {
    const answer = this.#inner.cancelling(receive, isMatched);
    this.#note("cancelling", receive, -1, -1, answer);
    return answer;
  }

  writeMayLeave(write: Write): boolean {
    const answer = this.#inner.writeMayLeave(write);
    this.#note("writeMayLeave", -1, -1, -1, answer);
    return answer;
  }

  control(words: Int32Array, packet: number): void {
    this.#note("control");
    this.#inner.control(words, packet);
  }

  progress(): boolean {
    return this.#inner.progress();
  }

  peerFailed(name: ProcessName, incarnation: number): void {
    this.#note("peerFailed", -1, name.rank);
    this.#inner.peerFailed(name, incarnation);
  }

  peerReturned(name: ProcessName, incarnation: number): void {
    this.#note("peerReturned", -1, name.rank);
    this.#inner.peerReturned(name, incarnation);
  }

  #note(
    hook: RecordedCall["hook"],
    request = -1,
    source = -1,
    sequence = -1,
    answer: boolean | null = null,
    context = -1,
  ): void {
    this.calls.push({ hook, request, source, sequence, context, answer });
  }
}
