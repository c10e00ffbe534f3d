/**
 * What may not be started any more, by context: everything where a communicator is revoked, receives from ANY_SOURCE where a
 * peer is dead that the program has not acknowledged. The layer above decides, all parts of the engine ask.
 */
import { lives } from "../base/saved-classes.ts";

export class Refusals {
  private readonly revoked = new Set<number>();
  private readonly wildcards = new Set<number>();

  revoke(context: number): void {
    this.revoked.add(context);
  }

  get areAny(): boolean {
    return this.revoked.size !== 0 || this.wildcards.size !== 0;
  }

  isRevoked(context: number): boolean {
    return this.revoked.size !== 0 && this.revoked.has(context);
  }

  setWildcards(context: number, areRefused: boolean): void {
    if (areRefused) this.wildcards.add(context);
    else this.wildcards.delete(context);
  }

  refusesWildcards(context: number): boolean {
    return this.wildcards.has(context);
  }
}

lives({ Refusals });
