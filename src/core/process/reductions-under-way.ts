/**
 * The reductions of operations under way, by number: operations are plain data and name them so. Operations that only the program
 * itself can do (written in C) are questions to it here.
 */
import { assert } from "../base/assert.ts";
import type { Pointer } from "../base/brand.ts";
import { lives } from "../base/saved-classes.ts";
import type { Operation, OperationId } from "../coll/engine/operation.ts";
import { freePlace } from "./free-place.ts";
import type { Reduction } from "./reduction.ts";

/** A combination that a collective leaves to the program: into = left ∘ right. `into` may be `left` or `right`. */
export interface Asked {
  readonly operation: OperationId;
  /** The reduction's. */
  readonly call: unknown;
  readonly left: Pointer;
  readonly right: Pointer;
  readonly into: Pointer;
  readonly count: number;
  readonly bytes: number;
}

const noReduction = -1;

export class ReductionsUnderWay {
  private readonly reductions: (Reduction | null)[] = [];
  /** How many operations each serves: numbers are used again. */
  private readonly uses: number[] = [];
  /** The combinations that the program must do, oldest first. */
  private readonly questions: Asked[] = [];
  /** Operations under way that need the program to combine. */
  programOperations = 0;

  /** For an operation that begins: the number of its reduction. */
  add(reduction: Reduction | null): number {
    if (reduction === null) return noReduction;
    if (reduction.call !== undefined) this.programOperations++;
    const known = this.reductions.indexOf(reduction);
    const number = known >= 0 ? known : freePlace(this.reductions);
    this.reductions[number] = reduction;
    this.uses[number] = (this.uses[number] ?? 0) + 1;
    return number;
  }

  of({ reduction }: Operation): Reduction {
    return this.reductions[reduction]!;
  }

  /** The operation is over. */
  remove({ reduction: number }: Operation): void {
    if (number === noReduction) return;
    if (this.reductions[number]!.call !== undefined) this.programOperations--;
    if (--this.uses[number]! === 0) this.reductions[number] = null;
  }

  ask(question: Asked): void {
    this.questions.push(question);
  }

  /** The combination that the program must do next; null: none. */
  get asked(): Asked | null {
    return this.questions[0] ?? null;
  }

  takeAsked(): Asked {
    const asked = this.questions.shift();
    assert(asked !== undefined, "no collective asks the program to combine anything");
    return asked;
  }
}

lives({ ReductionsUnderWay });
