/**
 * The tree over which the members of a communicator agree: a binomial tree over the places of those that live, the first of them
 * its root. A place is the index of a member in an order that all members know. The tree follows from the dead alone, so processes that have heard of the same deaths have the same tree.
 *
 * The living are numbered without gaps. In a binomial tree the parent of number i is i without its lowest bit, and the subtree of i
 * is the numbers from i up to i plus that bit.
 */
export class AgreementTree {
  private readonly size: number;
  /** Places, ascending. */
  private readonly dead: readonly number[];

  /** `members`: how many there are; `dead`: the places of the dead, in any order. */
  constructor(members: number, dead: readonly number[]) {
    this.size = members - dead.length;
    this.dead = dead.toSorted((a, b) => a - b);
  }

  /** The place of the parent; −1: it is the root. */
  parentOf(place: number): number {
    const number = this.numberOf(place);
    return number === 0 ? -1 : this.placeOf(number & (number - 1));
  }

  /** The places of the children, those with the largest subtrees first. */
  childrenOf(place: number): number[] {
    const number = this.numberOf(place);
    const children: number[] = [];
    for (let bit = 1; bit < this.subtreeSize(number) && number + bit < this.size; bit *= 2) {
      children.push(this.placeOf(number + bit));
    }
    return children.reverse();
  }

  /** Is the member at `place`, which lives, in the subtree of the one at `top`? */
  covers(top: number, place: number): boolean {
    const first = this.numberOf(top);
    const number = this.numberOf(place);
    return number >= first && number < first + this.subtreeSize(first);
  }

  /** As large as it can be, were there members enough. */
  private subtreeSize(number: number): number {
    return number === 0 ? Number.MAX_SAFE_INTEGER : number & -number;
  }

  private numberOf(place: number): number {
    let number = place;
    for (const dead of this.dead) {
      if (dead > place) break;
      number--;
    }
    return number;
  }

  private placeOf(number: number): number {
    let place = number;
    for (const dead of this.dead) {
      if (dead > place) break;
      place++;
    }
    return place;
  }
}
