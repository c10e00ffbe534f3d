/**
 * The members of a group that live, numbered without gaps. A place is the index of a member in an order that all members know; the number of
 * a living one is the count of the living before it. No list of members is made: groups are large and deaths are few.
 */
export class LivingMembers {
  readonly size: number;
  /** Places, ascending. */
  private readonly dead: readonly number[];

  /** `members`: how many there are; `dead`: the places of the dead, in any order. */
  constructor(members: number, dead: readonly number[]) {
    this.size = members - dead.length;
    this.dead = dead.toSorted((a, b) => a - b);
  }

  numberOf(place: number): number {
    let number = place;
    for (const dead of this.dead) {
      if (dead > place) break;
      number--;
    }
    return number;
  }

  placeOf(number: number): number {
    let place = number;
    for (const dead of this.dead) {
      if (dead > place) break;
      place++;
    }
    return place;
  }
}
