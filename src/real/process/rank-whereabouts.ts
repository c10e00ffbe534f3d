/**
 * Says where a rank is, in words that its node can read (real/messages/whereabouts.ts). Told by whoever waits, after each sleep of a
 * wait: most waits are over after a sleep or a few short ones, so nothing is written before one has lasted.
 */
import type { RecordId } from "../../core/base/brand.ts";
import { ANY_TAG } from "../../core/base/constants.ts";
import type { CallTeller, WaitingCall } from "../../core/binding/waiting-call.ts";
import { textOf, unlike } from "../../core/coll/engine/collective-call.ts";
import { type Awaited, awaitedMessage, awaitedOf, NO_PEER } from "../../core/process/awaited.ts";
import type { Communicator } from "../../core/process/communicator.ts";
import type { Process } from "../../core/process/process.ts";
import { machineMs } from "../machine/machine-clock.ts";
import { nowhere, PlaceWriter, type TurnWord } from "../messages/whereabouts.ts";

/** A wait that is shorter is not written down: between nodes one of a collective sleeps for each of its messages. */
const lastingMs = 5;
/** The words are written anew after so long: an operation of several steps may wait for another peer by then. */
const renewMs = 50;

/** What a wait is for, as far as the one who waits knows. */
export type WaitedFor =
  | { readonly kind: "request"; readonly request: RecordId }
  | { readonly kind: "message"; readonly peer: number; readonly tag: number; readonly context: number }
  | { readonly kind: "gate"; readonly comm: Communicator }
  | { readonly kind: "call" };

const anyCall: WaitedFor = { kind: "call" };

interface RankWhereaboutsOptions {
  readonly words: SharedArrayBuffer;
  readonly turn: TurnWord;
  readonly process: Process;
  /** Is everything that the process sent where it shall be, as far as the transport knows? */
  isDelivered(): boolean;
}

export class RankWhereabouts {
  /** Tells calls and names; null: nobody does. */
  teller: CallTeller | null = null;
  /** The program has come to its last line. */
  hasEnded = false;
  /** Sleeps of the wait that is under way; 0: none is, or it has not slept. */
  sleeps = 0;
  /** Whose turn it is, where the rank shares its thread. */
  readonly turn: TurnWord;
  readonly #writer: PlaceWriter;
  readonly #process: Process;
  readonly #isDelivered: () => boolean;
  readonly #names = new WeakMap<Communicator, string>();
  #hasGivenWay = false;
  #waits = 0;
  #sinceMs = 0;
  #writtenMs = 0;

  constructor({ words, turn, process, isDelivered }: RankWhereaboutsOptions) {
    this.turn = turn;
    this.#writer = new PlaceWriter(words, turn);
    this.#process = process;
    this.#isDelivered = isDelivered;
  }

  /** The communicator is called so by a program whose binding does not tell names. */
  named(comm: Communicator, name: string): void {
    this.#names.set(comm, name);
  }

  /** The program begins. */
  begin(): void {
    this.#writer.write({ ...nowhere, sinceMs: machineMs() });
  }

  /** The process has slept, and still waits. `isBlocked`: nothing but a message can end the wait. */
  slept(waitedFor: WaitedFor = anyCall, isBlocked = true): void {
    const nowMs = machineMs();
    if (this.sleeps++ === 0) {
      this.#sinceMs = nowMs;
      this.#writtenMs = 0;
      return;
    }
    const dueMs = this.#isWritten ? this.#writtenMs + renewMs : this.#sinceMs + lastingMs;
    if (nowMs >= dueMs) {
      if (!this.#isWritten) this.#waits++;
      this.#writtenMs = nowMs;
      this.#write(waitedFor, isBlocked);
    }
    if (this.#isWritten) this.#writer.polled();
  }

  /** It waits, and another rank of its thread has a turn. */
  giveWay(): void {
    this.#hasGivenWay = true;
    // A wait that is written down already says more.
    if (!this.#isWritten) this.#writer.giveWay();
  }

  /** It has its turn again. */
  goOn(): void {
    if (this.sleeps !== 0) this.end();
    else if (this.#hasGivenWay) this.#writer.goOn();
    this.#hasGivenWay = false;
  }

  /** The wait is over. */
  end(): void {
    const isWritten = this.#isWritten;
    this.sleeps = 0;
    this.#writtenMs = 0;
    if (isWritten) this.#writer.write({ ...nowhere, wait: this.#waits, sinceMs: machineMs() });
  }

  /** Has the wait that is under way been written down? */
  get #isWritten(): boolean {
    return this.#writtenMs !== 0;
  }

  #write(waitedFor: WaitedFor, isBlocked: boolean): void {
    const told = this.teller?.waitingCall() ?? null;
    // A receive without a request is faster than that it could say its name.
    const call = waitedFor.kind === "message" && told !== null ? { ...told, name: this.teller!.receive } : told;
    const { awaited, requests } = this.#awaited(waitedFor, call);
    const { isOver, engine } = this.#process;
    this.#writer.write({
      state: isOver ? "over" : "waiting",
      sinceMs: this.#sinceMs,
      wait: this.#waits,
      call: isOver ? "" : nameOf(call, awaited),
      kind: awaited.kind,
      peer: awaited.peer,
      tag: awaited.tag,
      comm: awaited.comm === null || isOver ? "" : this.#nameOf(awaited.comm),
      requests,
      isOneEnough: call?.isOneEnough ?? false,
      isUnmatched: awaited.isUnmatched,
      isBlocked,
      hasDelivered: !engine.unsent && this.#isDelivered(),
      hasEnded: this.hasEnded,
    });
  }

  #nameOf(comm: Communicator): string {
    return this.teller?.nameOf(comm) ?? (this.#names.get(comm) || `#${comm.context}`);
  }

  #awaited(waitedFor: WaitedFor, call: WaitingCall | null): { awaited: Awaited; requests: number } {
    const process = this.#process;
    switch (waitedFor.kind) {
      case "request":
        return { awaited: awaitedOf(process, waitedFor.request), requests: 1 };
      case "message":
        return { awaited: awaitedMessage(process, "receive", waitedFor), requests: 1 };
      case "gate":
        return { awaited: { ...nothing, kind: "collective", comm: waitedFor.comm }, requests: 1 };
      default: {
        if (call === null) return { awaited: nothing, requests: 0 };
        if (call.probe !== null) return { awaited: awaitedMessage(process, "probe", call.probe), requests: 1 };
        const open = call.requests.filter((request) => !process.engine.isComplete(request));
        const first = open[0];
        const awaited = first === undefined ? nothing : awaitedOf(process, first);
        return { awaited, requests: open.length };
      }
    }
  }
}

const nothing: Awaited = { kind: "other", peer: NO_PEER, tag: ANY_TAG, comm: null, isUnmatched: false };

/** The name of the call, or else of what is waited for. */
function nameOf(call: WaitingCall | null, { kind, comm }: Awaited): string {
  if (call !== null && call.name !== "") return call.name;
  if (kind === "receive") return "recv";
  if (kind !== "collective" || comm === null) return kind === "other" ? "" : kind;
  const text = textOf({ kind: comm.lastKind, root: unlike, bytes: unlike });
  return text.startsWith("MPI_") ? text.slice("MPI_".length).toLowerCase() : "collective";
}
