/**
 * The state of one rank that runs a script, for the functions that do its actions. All of it is plain data, so that an image
 * can hold it: a rank can be captured between two actions and in the waits of a `Doing`.
 */
import { assert } from "../../core/base/assert.ts";
import type { RecordId } from "../../core/base/brand.ts";
import { ANY_SOURCE } from "../../core/base/constants.ts";
import { ErrorClass } from "../../core/base/mpi-error.ts";
import { lives } from "../../core/base/saved-classes.ts";
import { BufferedSends } from "../../core/binding/buffered-sends.ts";
import type { Operations } from "../../core/binding/operations.ts";
import { ProcessOperations } from "../../core/binding/process-operations.ts";
import type { Waits } from "../../core/binding/world.ts";
import type { Communicator } from "../../core/process/communicator.ts";
import type { Process } from "../../core/process/process.ts";
import { R_ERROR, R_KIND, R_STATE, RecordKind, RecordState } from "../../core/request/records.ts";
import type { LinePlace } from "../../core/service/line-places.ts";
import type { Observation, Receipt } from "../observation.ts";
import type { Outside } from "../outside/outside.ts";
import { type CommunicatorPlan, rankOf } from "../script/communicator-plan.ts";
import { newLog } from "../script/file-steps.ts";
import type { Script } from "../script/script.ts";
import type { SimProcess, Steps } from "../sim-process.ts";
import { Buffer } from "./buffer.ts";
import { noInput } from "./given-input.ts";
import { type NewFiles, ScriptFiles } from "./script-files.ts";

/** A request of the script. */
export interface Pending {
  readonly record: RecordId;
  /** Called at completion: notes the result and frees what the request held. */
  end(state: ScriptState): void;
}

/** A persistent request of the script. */
export interface PersistentSeries {
  /** Starts the request as the plan with that number. */
  start(state: ScriptState, number: number): Pending;
  free(): void;
}

/**
 * An action that waits. Its fields hold its progress before each wait, so `run` can be called again, in another life, where the
 * first call stopped.
 */
export interface Doing {
  run(state: ScriptState): Steps;
}

/** A message that a matched probe has set aside. */
export interface Aside {
  /** −1: a death or a revocation ended the probe. */
  readonly envelope: RecordId;
  readonly posted: number;
  readonly probed: Receipt["probed"];
}

/** The observer of a rank's life. */
export interface Witness {
  /** The rank has seen a choice, or something that depends on one. */
  observe(...numbers: readonly number[]): void;
  /** The rank's history so far, as one number. */
  history(): number;
  /** The rank is about to do the action with that index; true: it hesitates, because something is about to happen to it. */
  passes(index: number): boolean;
}

/** Buffered sends of some ranks are counted against a buffer, as programs may ask for it; this buffer is never full. */
const attachedBytes = 1 << 30;

/** A script says when it waits, so the operations of a rank never do. */
function neverWaiting(process: Process): Waits {
  const refuse = (): never => {
    throw new Error("An operation of a script waits");
  };
  return { process, wait: refuse, waitUntil: refuse, receiveNow: refuse, look: () => void process.progress() };
}

interface RankStateOptions {
  readonly observation: Observation;
  /** Null: no observer. */
  readonly witness: Witness | null;
  readonly outside: Outside;
  readonly hasImages?: boolean;
  readonly newFiles?: NewFiles | undefined;
}

export class ScriptState {
  static readonly unsaved = {
    script: null,
    process: null,
    operations: null,
    observation: null,
    witness: null,
    outside: null,
    writes: 0,
    askedFor: -1,
  };
  readonly script: Script;
  readonly process: SimProcess;
  readonly core: Process;
  readonly operations: Operations;
  /** The rank's observations; an image holds a copy of its own. */
  observation: Observation;
  /** Index of the next action. */
  next = 0;
  /** The action that waits. */
  doing: Doing | null = null;
  readonly pending = new Map<number, Pending>();
  readonly series = new Map<number, PersistentSeries>();
  /** By receive. */
  readonly asides = new Map<number, Aside>();
  readonly buffered = new BufferedSends();
  hasGivenUp = false;
  private readonly communicators = new Map<number, Communicator>();
  private readonly witness: Witness | null;
  private readonly hasImages: boolean;
  private posted = 0;
  readonly outside: Outside;
  /** How many pieces of lines the rank has printed, and where the next one goes. */
  pieces = 0;
  readonly line: LinePlace = { line: 0, offset: 0 };
  /** The number of the rank's actions on files, and its file that stays open. */
  fileUses = 0;
  readonly log = newLog();
  readonly files: ScriptFiles;
  /** The rank's reads of standard input, what it was given for them, and the place from which on this life has asked for more; −1: none. */
  inputReads = 0;
  readonly given = noInput();
  askedFor = -1;
  /** The number of effects, other than messages, that have left this life. */
  writes = 0;

  constructor(script: Script, process: SimProcess, options: RankStateOptions) {
    const { observation, witness, outside, hasImages = false, newFiles } = options;
    this.hasImages = hasImages;
    this.script = script;
    this.process = process;
    this.core = process.core;
    this.operations = new ProcessOperations(neverWaiting(process.core));
    this.observation = observation;
    this.witness = witness;
    this.outside = outside;
    this.communicators.set(0, process.core.world);
    const { operations } = this;
    const { system } = outside.files;
    this.files = new ScriptFiles({ process, operations, system, nextWrite: () => this.writes++, newFiles });
    if (process.rank % 2 === 1) this.buffered.attach({ bytes: attachedBytes });
  }

  get rank(): number {
    return this.process.rank;
  }

  observe(...numbers: readonly number[]): void {
    this.witness?.observe(...numbers);
  }

  get history(): number {
    return this.witness?.history() ?? 0;
  }

  /** The rank is about to do the next action. */
  passes(): boolean {
    return this.witness?.passes(this.next) === true;
  }

  /** Number of the next receive: the order of posting in this rank. */
  nextPosted(): number {
    return this.posted++;
  }

  buffer(bytes: number, lent: boolean): Buffer {
    // A lent view, and parts of it again, would be several objects in an image.
    return new Buffer(this.process.memory, bytes, lent && !this.hasImages);
  }

  plan(communicator: number): CommunicatorPlan {
    return this.script.communicators[communicator]!;
  }

  communicator(number: number): Communicator {
    const comm = this.communicators.get(number);
    assert(comm !== undefined, `a script of rank ${this.rank} uses communicator ${number}, which it has not`);
    return comm;
  }

  /** False for a communicator whose making failed. */
  hasCommunicator(number: number): boolean {
    return this.communicators.has(number);
  }

  addCommunicator(number: number, comm: Communicator): void {
    this.communicators.set(number, comm);
    if (this.hasGivenUp) this.revoke(number, comm);
  }

  /** Another rank has given up, or a request that the rank does not wait for at present has a reason to. */
  get shallGiveUp(): boolean {
    if (this.hasGivenUp) return false;
    return this.core.world.isRevoked || (this.core.failures.count !== 0 && this.hasFailedTogether());
  }

  /** Has an operation of several ranks failed? The death of a named peer ends one message, no more. */
  private hasFailedTogether(): boolean {
    const { records } = this.core.engine;
    for (const { record } of this.pending.values()) {
      if (records.get(record, R_STATE) !== RecordState.COMPLETE) continue;
      const error = records.get(record, R_ERROR);
      const isNamed = records.get(record, R_KIND) !== RecordKind.OPERATION && error === ErrorClass.PROC_FAILED;
      if (error !== 0 && !isNamed) return true;
    }
    return false;
  }

  /**
   * An operation of several ranks has failed here: others may wait in it for this rank, which will not take part. Like programs
   * that use ULFM, the rank revokes all its communicators, and so does every rank that hears of it. Each rank goes on to the
   * end of its script, and every operation that it starts there ends with REVOKED.
   */
  giveUp(): void {
    if (this.hasGivenUp) return;
    this.hasGivenUp = true;
    this.observation.gaveUp.add(this.rank);
    for (const [number, comm] of this.communicators) this.revoke(number, comm);
  }

  private revoke(number: number, comm: Communicator): void {
    this.observation.revoked.add(number);
    this.core.revocations.revoke(comm);
  }

  freeCommunicator(number: number): void {
    this.core.freeCommunicator(this.communicator(number));
    this.communicators.delete(number);
  }

  /** The number of a world rank, or ANY_SOURCE, in a communicator. */
  rankIn(communicator: number, world: number): number {
    return world === ANY_SOURCE ? ANY_SOURCE : rankOf(this.plan(communicator), world);
  }
}

lives({ ScriptState });
