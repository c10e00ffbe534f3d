/**
 * The tree over which the members of a communicator agree: a binomial tree over those that live, the first of them its root. The tree
 * follows from the dead alone, so processes that have heard of the same deaths have the same tree.
 *
 * In a binomial tree the parent of number i is i without its lowest bit, and the subtree of i is the numbers from i up to i plus that
 * bit.
 */
import { LivingMembers } from "./living-members.ts";

export class AgreementTree {
  private readonly living: LivingMembers;

  /** `members`: how many there are; `dead`: the places of the dead, in any order. */
  constructor(members: number, dead: readonly number[]) {
    this.living = new LivingMembers(members, dead);
  }

  /** The place of the parent; −1: it is the root. */
  parentOf(place: number): number {
    const number = this.living.numberOf(place);
    return number === 0 ? -1 : this.living.placeOf(number & (number - 1));
  }

  /** The places of the children, those with the largest subtrees first. */
  childrenOf(place: number): number[] {
    const { living } = this;
    const number = living.numberOf(place);
    const children: number[] = [];
    for (let bit = 1; bit < subtreeSize(number) && number + bit < living.size; bit *= 2) {
      children.push(living.placeOf(number + bit));
    }
    return children.reverse();
  }

  /** Is the member at `place`, which lives, in the subtree of the one at `top`? */
  covers(top: number, place: number): boolean {
    const first = this.living.numberOf(top);
    const number = this.living.numberOf(place);
    return number >= first && number < first + subtreeSize(first);
  }
}

/** As large as it can be, were there members enough. */
function subtreeSize(number: number): number {
  return number === 0 ? Number.MAX_SAFE_INTEGER : number & -number;
}
