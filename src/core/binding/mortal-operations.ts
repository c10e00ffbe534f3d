/**
 * The operations of a program in TypeScript whose process dies by itself, for the program alone: whatever the program starts, looks at or waits for
 * is a place where the process may die (thesis §5.3.6). Programs in C are asked before their calls instead: abi/mortal-calls.ts.
 */
import type { RecordId } from "../base/brand.ts";
import type { Operations } from "./operations.ts";
import { PassingOperations } from "./passing-operations.ts";

export class MortalOperations extends PassingOperations {
  readonly #die: () => never;

  /** `die` makes the process dead, and does not return. */
  constructor(base: Operations, die: () => never) {
    super(base);
    this.#die = die;
  }

  #mayDie(): void {
    const death = this.base.simulatedDeath;
    if (death !== null && !death.isDead && death.isDue?.() === true) this.#die();
  }

  override startSend(...call: Parameters<Operations["startSend"]>): RecordId {
    this.#mayDie();
    return super.startSend(...call);
  }

  override startReceive(...call: Parameters<Operations["startReceive"]>): RecordId {
    this.#mayDie();
    return super.startReceive(...call);
  }

  override probe(...call: Parameters<Operations["probe"]>): RecordId {
    this.#mayDie();
    return super.probe(...call);
  }

  override startEqual(...call: Parameters<Operations["startEqual"]>): RecordId {
    this.#mayDie();
    return super.startEqual(...call);
  }

  override startReduction(...call: Parameters<Operations["startReduction"]>): RecordId {
    this.#mayDie();
    return super.startReduction(...call);
  }

  override startBlocks(...call: Parameters<Operations["startBlocks"]>): RecordId {
    this.#mayDie();
    return super.startBlocks(...call);
  }

  override startNeighbor(...call: Parameters<Operations["startNeighbor"]>): RecordId {
    this.#mayDie();
    return super.startNeighbor(...call);
  }

  override startTask(...call: Parameters<Operations["startTask"]>): RecordId {
    this.#mayDie();
    return super.startTask(...call);
  }

  override look(): void {
    this.#mayDie();
    super.look();
  }

  override wait(...call: Parameters<Operations["wait"]>): boolean {
    this.#mayDie();
    return super.wait(...call);
  }
}
