/**
 * The synchronisations of one communicator, one after the other (thesis §5.3.2, §5.3.5.1): every member adds its report to those of its
 * successors and sends the sum to its predecessor; when the root has all of them it says the verdict, which every member passes on.
 *
 * A synchronisation that has begun has a verdict, which all members hear: nobody takes its report back, and nobody dies between report and
 * verdict. So a collective that follows a verdict is carried out by all members or by none (strong consistency, §5.2.2).
 *
 * A successor reports to the next one only when it has the last verdict. Where verdicts come down the tree this member had it before, and all reports
 * belong to the one synchronisation that is open here. Where they come another way a successor may have it first: its report is kept.
 */
import { merged, noReport, type SyncReport } from "./report.ts";

interface Steps {
  /** The reports of this member and of all below it, for the predecessor. */
  up(number: number, report: SyncReport): void;
  /** At the root: the reports of all members. The verdict is said by `Synchronisation.over` when it is known. */
  gathered(number: number, report: SyncReport): void;
}

export class Synchronisation {
  readonly #steps: Steps;
  readonly #isRoot: boolean;
  readonly #successors: number;
  #number = 0;
  #report: SyncReport = noReport;
  #missing: number;
  /** Reports to the next one. */
  #ahead: SyncReport[] = [];
  #hasOwn = false;
  /** After a verdict that the communicator is revoked: nobody will report any more. */
  isClosed = false;

  constructor(isRoot: boolean, successors: number, steps: Steps) {
    this.#steps = steps;
    this.#isRoot = isRoot;
    this.#successors = successors;
    this.#missing = successors;
  }

  /** The number of the one that is open. */
  get number(): number {
    return this.#number;
  }

  /** Has this member reported? */
  get hasReported(): boolean {
    return this.#hasOwn;
  }

  report(own: SyncReport): void {
    this.#hasOwn = true;
    this.#add(own);
  }

  successorReported(number: number, report: SyncReport): void {
    if (number === this.#number + 1) this.#ahead.push(report);
    if (number !== this.#number || this.#missing === 0) return;
    this.#missing--;
    this.#add(report);
  }

  /** The verdict is known: the next one is open. */
  over(): void {
    this.#number++;
    this.#report = this.#ahead.reduce(merged, noReport);
    this.#missing = this.#successors - this.#ahead.length;
    this.#ahead = [];
    this.#hasOwn = false;
  }

  #add(report: SyncReport): void {
    this.#report = merged(this.#report, report);
    if (!this.#hasOwn || this.#missing > 0) return;
    if (this.#isRoot) this.#steps.gathered(this.#number, this.#report);
    else this.#steps.up(this.#number, this.#report);
  }
}
