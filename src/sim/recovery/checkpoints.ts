/**
 * Set checkpoints in a simulated world (§3.3.3): the host of what core/service/set-checkpoints.ts decides. The ranks of a set stop one
 * after the other, come to rest together, are captured, each for itself, and stand still until they are told to go on; their images
 * travel to a checkpoint server. When and whether a checkpoint counts is the core's business.
 */
import type { SentInSet } from "../../core/ft/set-split.ts";
import { sentInSet } from "../../core/process/sent-in-set.ts";
import { Settling } from "../../core/process/settling.ts";
import type { Capture } from "../../core/service/set-checkpoints.ts";
import type { Rests } from "../interpreter/interpreter.ts";
import type { SimProcess, Steps } from "../sim-process.ts";
import { hasHalf } from "./half-received.ts";
import { type ImageName, SimImageStore } from "./image-store.ts";

/** What happens in an attempt, in this order. */
export const checkpointSteps = ["asked", "stopped", "captured", "stored", "committed"] as const;
/** `image`: one more is stored. */
export type CheckpointStep = (typeof checkpointSteps)[number] | "image";

export interface CheckpointProgress {
  readonly step: CheckpointStep;
  readonly set: number;
  /** Of the set's checkpoints, from 1. */
  readonly number: number;
  /** Images that the server has, and that there will be. */
  readonly stored: number;
  readonly wanted: number;
}

interface CheckpointsPorts<I> {
  readonly setOf: readonly number[];
  processOf(rank: number): SimProcess;
  imageOf(rank: number): I;
  /** A rank that has finished shall come to rest all the same. */
  restFinished(rank: number, rest: () => Steps): void;
  wake(rank: number): void;
  /** Everything takes its time. */
  later(act: () => void): void;
  /** After the time that another server needs to take the place of a lost one. */
  whenRestarted(act: () => void): void;
  /** Is that checkpoint being taken, and has it not been given up? */
  isOpen(set: number, number: number): boolean;
  /** For the core, from the node of a rank. */
  captured(rank: number, capture: Capture, sent: readonly SentInSet[]): void;
  imageStored(rank: number, image: Capture & { readonly problem: string }): void;
  verified(set: number, number: number, problem: string): void;
  happens(event: CheckpointProgress): void;
}

interface Attempt {
  readonly set: number;
  readonly number: number;
  phase: "ordered" | "under way" | "captured" | "given up" | "over";
  readonly stopped: Set<number>;
  readonly captured: Set<number>;
  stored: number;
}

/** `I` is what an image of a rank is: of a script (rank-image.ts), or of a program in C. */
export class Checkpoints<I> {
  readonly #ports: CheckpointsPorts<I>;
  readonly #store = new SimImageStore<I>();
  /** The last of each set. */
  readonly #attempts = new Map<number, Attempt>();
  /**
   * How often each step was reached; restarts from an image, and from the one before the newest; and what a set had of a
   * checkpoint when it fell: asked for, captured, stored by its server, in each case not more; images with half a message; images
   * that a crash of the server has torn.
   */
  readonly counts = {
    asked: 0,
    stopped: 0,
    captured: 0,
    image: 0,
    stored: 0,
    committed: 0,
    givenUp: 0,
    restored: 0,
    corrupt: 0,
    fellAsked: 0,
    fellCaptured: 0,
    fellStored: 0,
    capturedWithHalf: 0,
    torn: 0,
  };

  constructor(ports: CheckpointsPorts<I>) {
    this.#ports = ports;
  }

  // Orders

  /** The members of the set shall stop, and be captured when all have. */
  stop(set: number, number: number): void {
    const attempt: Attempt = { set, number, phase: "ordered", stopped: new Set(), captured: new Set(), stored: 0 };
    this.#attempts.set(set, attempt);
    this.#ports.later(() => {
      if (attempt.phase !== "ordered") return;
      attempt.phase = "under way";
      for (const rank of this.#members(set)) {
        const isFinished = this.#ports.processOf(rank).state === "finished";
        if (isFinished) this.#ports.restFinished(rank, () => this.#rest(attempt, rank));
        this.#ports.wake(rank);
      }
    });
  }

  /** All have been captured, or it was given up. */
  goOn(set: number): void {
    const attempt = this.#attempts.get(set);
    if (attempt === undefined) return;
    const phase = attempt.captured.size === this.#members(set).length ? "captured" : "given up";
    this.#ports.later(() => {
      if (attempt.phase === "over") return;
      attempt.phase = phase;
      for (const rank of this.#members(set)) this.#ports.wake(rank);
    });
  }

  /** Reads back what is stored. */
  verify(set: number, number: number): void {
    this.#ports.later(() => {
      const problems = this.#members(set).map((rank) => this.#store.problemOf({ set, number, rank }));
      this.#ports.verified(set, number, problems.find((problem) => problem !== "") ?? "");
    });
  }

  drop(set: number, number: number): void {
    this.#store.drop({ set, number });
    const attempt = this.#attempts.get(set);
    // A set that falls while its checkpoint is taken does not count as giving it up.
    if (attempt?.number === number && attempt.phase !== "over") this.counts.givenUp++;
  }

  /** Are all images of that checkpoint there, and whole? */
  has(set: number, number: number): boolean {
    return this.#members(set).every((rank) => this.#store.problemOf({ set, number, rank }) === "");
  }

  imageOf(name: ImageName): I {
    return this.#store.get(name);
  }

  /** The image of a rank is one of another set, too. Returns the obstacle; empty: there is none. */
  share(name: ImageName, as: number): string {
    const problem = this.#store.problemOf(name);
    if (problem === "") this.#store.share(name, as);
    return problem;
  }

  // What happens to it

  /** A checkpoint of a set has come so far. */
  reached(event: CheckpointProgress): void {
    const { step, set, number } = event;
    this.counts[step]++;
    const attempt = this.#attempts.get(set);
    if (step === "image" && attempt?.number === number) attempt.stored = event.stored;
    this.#ports.happens(event);
    if (step === "image" && event.stored === event.wanted) this.reached({ ...event, step: "stored" });
  }

  /** The set is declared dead. */
  fell(set: number): void {
    const attempt = this.#attempts.get(set);
    if (attempt === undefined) return;
    const { number, captured, stored } = attempt;
    const wanted = this.#members(set).length;
    if (this.#ports.isOpen(set, number)) {
      if (captured.size < wanted) this.counts.fellAsked++;
      else if (stored < wanted) this.counts.fellCaptured++;
      else this.counts.fellStored++;
    }
    attempt.phase = "over";
  }

  /** The job is over: ranks that stand still go on, and checkpoints under way never count. */
  end(): void {
    for (const attempt of this.#attempts.values()) {
      if (attempt.phase !== "ordered" && attempt.phase !== "under way") continue;
      attempt.phase = "given up";
      this.counts.givenUp++;
      for (const rank of this.#members(attempt.set)) this.#ports.wake(rank);
    }
  }

  /** The server is gone, and another takes its place. */
  serverLost(): void {
    this.#store.crash();
    this.counts.torn = this.#store.torn;
    this.#ports.whenRestarted(() => this.#store.restart());
  }

  // Ranks

  rests(set: number, rank: number): Rests {
    const wanted = (): Attempt | null => {
      const attempt = this.#attempts.get(set);
      return attempt?.phase === "under way" && !attempt.captured.has(rank) ? attempt : null;
    };
    return { isWanted: () => wanted() !== null, rest: () => this.#rest(wanted()!, rank) };
  }

  *#rest(attempt: Attempt, rank: number): Steps {
    // A finished rank that stood still before it came to this was taken for dead, and another life has its place.
    if (attempt.phase !== "under way") return;
    const { stopped, set } = attempt;
    const process = this.#ports.processOf(rank);
    const members = this.#members(set);
    stopped.add(rank);
    if (stopped.size === members.length) this.#happens("stopped", attempt);
    const settling = new Settling(process.core, members, attempt.number);
    let isGivenUp = false;
    yield process.settle("its set to come to rest", () => {
      isGivenUp = attempt.phase === "given up" && settling.giveUp();
      return isGivenUp || settling.advance() === "quiet";
    });
    if (isGivenUp) return;
    if (attempt.phase === "under way") {
      this.#capture(attempt, rank);
      // What it took now would be chosen before the set's position in its stream, and its image does not have it.
      yield process.still("the others to be captured", () => attempt.phase !== "under way");
    }
    process.core.collectives.arriveAgain();
  }

  #capture(attempt: Attempt, rank: number): void {
    const { set, number, captured } = attempt;
    const ports = this.#ports;
    const process = ports.processOf(rank);
    const { protocol } = process.core;
    const position = protocol?.captured(number) ?? 0;
    const capture = { number, position, callsPassed: protocol?.callsPassed ?? 0, settledMs: 0 };
    const image = ports.imageOf(rank);
    if (hasHalf(process, ports.setOf)) this.counts.capturedWithHalf++;
    captured.add(rank);
    ports.captured(rank, capture, sentInSet(process.core, ports.setOf));
    const upload = {
      name: { set, number, rank },
      image,
      answer: (problem: string) => ports.imageStored(rank, { ...capture, problem }),
    };
    this.#store.upload(upload);
    ports.later(() => {
      this.#store.written(upload);
      ports.later(() => this.#store.acknowledged(upload));
    });
    if (captured.size === this.#members(set).length) this.#happens("captured", attempt);
  }

  #happens(step: CheckpointStep, { set, number, stored }: Attempt): void {
    this.reached({ step, set, number, stored, wanted: this.#members(set).length });
  }

  #members(set: number): readonly number[] {
    const { setOf } = this.#ports;
    return [...setOf.keys()].filter((rank) => setOf[rank] === set);
  }
}
