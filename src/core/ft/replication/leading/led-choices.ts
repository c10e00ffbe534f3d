/** Choices of a program whose replicas follow a leader: the leader makes them, the others are told. */
import { lives } from "../../../base/saved-classes.ts";
import type { ChoiceKind, Choices, Outcome } from "../../choices.ts";
import { DeterminantKind } from "../../determinants/determinant-stream.ts";
import type { DecisionLog } from "./decision-log.ts";
import type { ToldDecisions } from "./told-decisions.ts";

/** A program that polls is followed by others, but not poll by poll. */
const runMax = 4096;

export class LedChoices implements Choices {
  private readonly log: DecisionLog;
  private readonly told: ToldDecisions;
  /** How often "nothing yet" was said since the last decision, and how often it may be before the others are told. */
  private nothings = 0;
  private nothingsMax = 1;
  /** As it was when the process made progress last. */
  private nothingsBefore = 0;

  constructor(log: DecisionLog, told: ToldDecisions) {
    this.log = log;
    this.told = told;
  }

  get isReady(): boolean {
    return this.told.hasChoice || (this.log.leads && !this.log.isAhead);
  }

  replay(kind: ChoiceKind): Outcome | undefined {
    return this.told.takeChoice(kind, () => this.log.passed++);
  }

  made(kind: ChoiceKind, outcome: readonly number[]): void {
    this.decide([DeterminantKind.CHOICE, kind, ...outcome]);
    this.nothingsMax = 1;
  }

  /** Of anything: decisions are in the order in which they were made. */
  decide(decision: readonly number[]): void {
    this.closeRun();
    this.log.append(decision);
  }

  nothing(_kind: ChoiceKind): void {
    if (++this.nothings < this.nothingsMax) return;
    this.closeRun();
    this.nothingsMax = Math.min(runMax, 2 * this.nothingsMax);
  }

  /** Something leaves the process: it depends on the answers that the program was given. */
  closeRun(): void {
    if (this.nothings === 0) return;
    const times = this.nothings;
    this.nothings = 0;
    this.log.append([DeterminantKind.NOTHING, times]);
  }

  get hasOpenRun(): boolean {
    return this.nothings !== 0;
  }

  /**
   * The process makes progress. If it has not polled since it did so before, it waits for something, perhaps for what a follower does
   * next. True: once more.
   */
  progress(): boolean {
    const { nothings } = this;
    if (nothings === 0) return false;
    if (nothings === this.nothingsBefore) this.closeRun();
    this.nothingsBefore = nothings;
    return true;
  }

  /** May the program's wish to cancel that receive be heard? Not before it is known what the leader made of it. */
  mayCancel(receive: number): boolean {
    return this.log.leads || this.told.knowsEndOf(receive);
  }
}

lives({ LedChoices });
