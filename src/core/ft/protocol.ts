/**
 * A fault-tolerance protocol in one process: what Open MPI's PML-V hooks see, and three decisions: where a send goes, when a
 * request may be reported complete, which packet a receive must take. `pass-through.ts` is the template; the conformance
 * suite is `testing/protocol-conformance.ts`; `registry.ts` lists all protocols, with their parts for nodes and for the job.
 *
 * The life of one: it is made with the process (`NewProtocol`); if the process goes on from an image its fields are restored;
 * `begin`; then the hooks below, with `captured` and `trimmedTo` at checkpoints; `report` when the program is over.
 *
 * Who calls: `core/process`, from the engine of one process, always in that process's thread, never re-entrantly. When, and
 * in which order, stands on each method. What an implementation must never do: wait, read a clock, keep state that is not in
 * plain fields (an image holds them, core/base/saved-classes.ts), call back into the engine except through the
 * `ProtocolPorts` it was given.
 */
import type { Pointer, RecordId, WorldRank } from "../base/brand.ts";
import type { Identity, ProcessName } from "../base/identity.ts";
import type { Arrival, KeptMessage, Pin, Told, Went } from "../request/decisions.ts";
import type { Memory } from "../request/memory.ts";
import type { Records } from "../request/records.ts";
import type { Choices } from "./choices.ts";
import type { SharedOperations } from "./shared-operations.ts";

/** Output, files, the result, the exit code: what leaves the process without being a message. */
export interface Write {
  readonly kind: "line" | "file" | "result" | "exit";
  readonly number: number;
}

/**
 * What a data plane does past the protocol (core/p2p/pass.ts), where the process has one: it sends and receives as the short ways do, as long as
 * `mayPass` said so of the process itself when the pass was opened; a protocol that would say otherwise now closes the pass.
 */
export interface PassedCalls {
  /** Is there a plane? */
  readonly isUsed: boolean;
  close(): void;
  /** Receives of the program so far. The protocol writes its own number of them here; the plane counts on, and records with these numbers. */
  numbered: number;
  /** The receive that is posted now was begun by the plane, which has counted it under that number; 0: it was not. */
  readonly adopting: number;
  /** Receives from any source that the plane has recorded since the last time. */
  takeRecorded(): number;
  /** Collectives on boards that the plane has completed so far. */
  readonly met: number;
}

/** What a protocol may do; the engine does it. */
export interface ProtocolPorts {
  readonly rank: number;
  /** Ranks that there can be in the job. */
  readonly ranks: number;
  readonly records: Records;
  readonly memory: Memory;
  readonly pass: PassedCalls;
  /**
   * Puts a message on its way, if there is room. ENVELOPE: `sendMayComplete` will be asked of a record whose first word for
   * protocols is `keeper` when its receiver has it all. If it is lent it stays where it is until then; otherwise `lend` is
   * asked when its receiver wants the bytes.
   */
  transmit(message: KeptMessage, keeper: number): Went;
  /** As `transmit`, of an eager message of this process's own to the process that plays that rank for it; false: it is not eager, or there is no room. */
  transmitNow(pointer: Pointer, bytes: number, dest: number, tag: number, context: number, sequence: number): boolean;
  /** Would its bytes travel with its envelope now? */
  isEager(message: KeptMessage): boolean;
  /** Can the process that plays that rank for this one read its memory? */
  shares(dest: number): boolean;
  /**
   * A PROTOCOL packet: five words, or three and a payload, on its way before any message to that process; it waits for room if it must, and
   * for no send.
   */
  tell(to: ProcessName, told: Told): void;
  /** How many bytes the payload of a PROTOCOL packet to that process may have; it may be none. */
  toldBytesMax(to: ProcessName): number;
  /** The payload of a PROTOCOL packet that `control` is told of. */
  toldBytes(packet: number): Uint8Array;
  /**
   * Whoever speaks as that process, answers for it go to this process of the transport's: the process itself, or one that stands
   * in for it. No image knows of it: a life that goes on from one is told again.
   */
  place(name: ProcessName, process: number): void;
  /** This process's messages for that rank go to that replica of it; to the replica that this process is, unless told otherwise. */
  route(to: ProcessName): void;
  /** This process has the image of another replica of its rank, and is that one from now on, in that life. */
  becomes(own: Identity): void;
  /** The program may hear that a send which the protocol has taken is complete. */
  complete(send: RecordId): void;
  /**
   * Nothing but PROTOCOL packets is heard of that process until `peerBack`, and nothing at all of lives before that one; what was
   * under way to it is forgotten, what was under way from it is waited for again.
   */
  peerLost(name: ProcessName, incarnation: number): void;
  peerBack(name: ProcessName): void;
  /** Asks again how each posted receive is matched. */
  pinPosted(pinOf: (receive: RecordId) => Pin): void;
  /** Asks again how each receive is matched that stands still (`Pin.LATER`), oldest first. */
  pinWaiting(pinOf: (receive: RecordId) => Pin): void;
  /** A message that was kept aside (`Arrival.LATER`) arrives now: a receive takes it, or it waits for one. */
  letIn(envelope: RecordId): void;
  /** This process hears of that rank that a communicator is revoked. */
  revoked(rank: number, context: number, bits: number): void;
  /** The bytes of a message that is kept aside are not to be trusted: it is here without bytes now, see `isBroken`. */
  spoil(envelope: RecordId): void;
  /** Is that message here without all its bytes, which its sender will not send any more? And the numbers of all such messages of a rank. */
  isBroken(source: number, sequence: number): boolean;
  brokenFrom(source: number): number[];
  /** All messages whose receive is not over: those that wait for one, and those that have met theirs. */
  forEachOpen(visit: (source: number, sequence: number) => void): void;
  /** The numbers of messages of a rank that are here without all their bytes, whether these are still sent or not. */
  incompleteFrom(source: number): number[];
}

/** Makes the protocol of a process that is being put together: of its ports only the plain fields can be used yet. */
export type NewProtocol = (ports: ProtocolPorts) => Protocol;

/** How a life begins. */
export interface Beginning {
  /** Which life of the rank this is; 0: the first. */
  readonly incarnation: number;
  /** The present life of every rank. */
  readonly incarnations: readonly number[];
  /** What the protocol's part for the job has for a life that is not the first; only the protocol understands it. */
  readonly data: unknown;
  /** To be called once by a life that is not the first, when it has come as far as the lives before. */
  caughtUp(): void;
}

/**
 * Processes that marks of a capture do not reach, and that come to rest with this one (core/process/settling.ts): the protocol takes them along, round by round. Rounds have
 * the same numbers everywhere, and no number comes twice.
 */
export interface RestRounds {
  /**
   * A round begins: they are told so, and whether this process had anything to do since the one before, which is the answer: the protocol may know of more.
   */
  begin(round: number, isBusy: boolean): boolean;
  /** Have all of them begun it? */
  isOver(round: number): boolean;
  /** Had nobody anything to do, this process included? */
  isQuiet(round: number): boolean;
}

/** A process from whose image another replica of its rank is made. */
export interface Cloning {
  /**
   * That replica shall come back in that life: whatever it will need is kept from now on. Its own replica: this process shall go on elsewhere, and stands still behind
   * its image until it is ended, or told to `stay`.
   */
  prepare(replica: number, life: number): void;
  /** May the image be taken, at the next capture point? False again if the attempt was given up. */
  readonly isPrepared: boolean;
  /** Everybody knows, but the program is not as far as it must be for that. */
  readonly mustGoOn: boolean;
  /** It is taken. */
  captured(): void;
  /** That next life of this process will not begin. */
  stay(life: number): void;
}

/** Bytes in the process's memory that are the protocol's. An image takes them along; the pointer is another one afterwards. */
export interface KeptPayload {
  readonly bytes: number;
  pointer: Pointer;
}

export interface Protocol {
  /** Does the death of a process end the requests that wait for it? Otherwise they wait for its next life. */
  readonly deathEndsRequests: boolean;
  /** Does a rank whose program is over stay, because others may still need what it has sent (rule 9)? */
  readonly finishedServe: boolean;
  /** Does a rank, before it leaves, wait until all that it has sent is where it belongs? Then no other rank can need it again. */
  readonly hasFarewell: boolean;
  /**
   * Do messages come from the processes that sent them? Otherwise the protocol speaks on behalf of these, and what it says in the name of
   * one is not void because that one has fallen.
   */
  readonly peersSpeak: boolean;
  /**
   * May a collective end with an error because its ranks disagree (core/process/inquiries.ts)? Only where the
   * engine sends all messages itself, because the proof is often that whatever was sent has come by now; and where no life has to
   * repeat the outcomes of another.
   */
  readonly mayJudgeCollectives: boolean;
  /** Observations of the program that a second run would have to repeat are told here, and asked for in one; null: none are. */
  readonly choices: Choices | null;

  /** Operations on files, where several processes play the rank; null: this process performs its own. */
  readonly operations: SharedOperations | null;

  /** Does one process of a rank read clocks for all of them (`operations`)? */
  readonly sharesClocks: boolean;

  /**
   * Does the protocol tell others which communicators are revoked (`revoking`, `ProtocolPorts.revoked`)? Then what a single process says of it, or by
   * refusing a message, counts for nothing.
   */
  readonly sharesRevocations: boolean;

  /** Are others captured with all processes that marks reach? Null: there are none. */
  readonly rests: RestRounds | null;

  /** How this process is made ready to be cloned while it goes on; null: it cannot be. */
  readonly cloning: Cloning | null;

  /** A life begins: the process is restored if it has an image, and its program has not run yet. */
  begin(beginning: Beginning): void;
  /**
   * The process comes to rest, to be captured together with others: the protocol puts no message on its way to them until it is told that the process
   * goes on; a life that begins with that image may at once.
   */
  settles(isSettling: boolean): void;
  /** An image with that number is about to be taken: a position, which the protocol's part for the job understands. */
  captured(checkpoint: number): number;
  /** No image with a lower number will be restored any more. */
  trimmedTo(checkpoint: number): void;
  /** Of all it keeps in the process's memory; in the same order after a restore. */
  readonly kept: readonly KeptPayload[];
  /** Calls of the program that the protocol has seen; the same number at the same place in every life. */
  readonly callsPassed: number;
  /** For the protocol's part for the job, when the program is over. Plain data. */
  report(): unknown;

  /**
   * May small messages to and from that process take the engine's short ways now? Then nothing is asked of them but, of a
   * receive, `received`. As long as one may not, its sends go the long way, and of a message that has come from it `arrived` and
   * `held` come before `received`; a process that may not pass itself posts all of its receives.
   */
  mayPass(peer: number): boolean;
  /** A blocking receive that was never posted has taken that message, by the short way. */
  received(isAnySource: boolean, source: WorldRank, sequence: number): void;

  /**
   * A send was posted and has its sequence number. Called once, before anything of it leaves. True: the protocol has taken
   * the message, sends it itself and says when the send is complete.
   */
  sendPosted(send: RecordId): boolean;
  /**
   * Does the protocol keep what is sent to that rank in standard mode, so that such a send is over at once? Then `keepNow` is told of it in place of `sendPosted`, and
   * there is no record.
   */
  keepsNow(dest: number): boolean;
  keepNow(from: Pointer, bytes: number, dest: number, tag: number, context: number, sequence: number): void;
  /** The process is about to meet others on a board, past all messages: they may come to know what it knows. */
  meeting(): void;
  /** May the packet of this send leave now? Asked before the first byte leaves and again on every progress until true. */
  sendMayLeave(send: RecordId): boolean;
  /** May the program hear that this send is complete? Asked when the engine is done with it, and again until true. */
  sendMayComplete(send: RecordId): boolean;
  /**
   * The receiver of a message that the protocol keeps, and did not lend when it announced it, wants the bytes. True: they are
   * there now, and the record says where; they stay until `sendMayComplete`. False: not yet, and it is asked again.
   */
  lend(send: RecordId, isForLong: boolean): boolean;
  /** A receive was posted, not yet matched. */
  receivePosted(receive: RecordId): Pin;
  /** A packet of a message has arrived; before matching. Words as in core/wire. */
  arrived(words: Int32Array, packet: number): Arrival;
  /** A message of which `arrived` has said LATER, or `mayCount` no, is kept in that envelope until `ProtocolPorts.letIn`. */
  putAside(envelope: RecordId): void;
  /**
   * All bytes of a message have come: into the buffer of a receive, or into the memory of an envelope that no receive has taken. Do they count?
   * Asked before `held`, not of messages that are put aside. If not, they are waited for again: the message is one that `isBroken`.
   */
  mayCount(record: RecordId): boolean;
  /** All bytes of the message are in this process, in the buffer or in the unexpected memory. Once for each message. */
  held(source: WorldRank, sequence: number): void;
  /** This receive has taken that message. Called once, before `held` unless the payload came first. */
  matched(receive: RecordId, source: WorldRank, sequence: number): void;
  /**
   * The program is about to see that message: `isOver`, its receive is over; otherwise a probe has found it, or its receive is complete and
   * stays, and it may be seen again. Not called where `received` is, which says the same. What the program sends later may depend on it.
   */
  seen(source: WorldRank, sequence: number, isOver: boolean): void;
  /** The program starts a collective with that request, and will look at it later: what it takes before (`actsFor`) the program has not seen. */
  collectiveBegins(collective: RecordId): void;
  /** Messages are posted and seen for that collective, blocking or not, and not by the program itself, until `actsForProgram`. */
  actsFor(collective: RecordId): void;
  actsForProgram(): void;
  /** The program is about to see that it is complete. Called for other requests of the layers above as well, and may be called again. */
  collectiveSeen(collective: RecordId): void;
  /** May the program's wish to cancel that request be heard? If not, the program waits in its call until it may. */
  mayCancel(request: RecordId): boolean;
  /**
   * The program wants a receive cancelled: `isMatched`, too late, and it will not be. Otherwise it is, unless the answer is
   * false: then it waits for its message as if the program had not asked.
   */
  cancelling(receive: RecordId, isMatched: boolean): boolean;
  /** As `sendMayLeave`, for everything else that leaves. */
  writeMayLeave(write: Write): boolean;
  /** That rank shall hear that a communicator is revoked; `context` and `bits` are those of core/process/revocations.ts. */
  revoking(rank: number, context: number, bits: number): void;
  /** A PROTOCOL packet from another process of the job, also from one that is lost. */
  control(words: Int32Array, packet: number): void;
  /** Moves what the protocol itself has under way; true when anything moved. */
  progress(): boolean;
  /** Has it anything under way that only `progress` moves? */
  readonly isBusy: boolean;
  /** Does it wait for words of others, without which the process must not end? */
  readonly awaitsOthers: boolean;
  /** The dispatcher declared a death; in one order that every process sees. */
  peerFailed(name: ProcessName, incarnation: number): void;
  /** A new life of that process is there, or will be. */
  peerReturned(name: ProcessName, incarnation: number): void;
}
