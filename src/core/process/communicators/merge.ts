import type { CommRank } from "../../base/brand.ts";
import { saves } from "../../base/saved-classes.ts";
import { kindCode, unlike } from "../../coll/engine/collective-call.ts";
import type { Group } from "../../comm/group.ts";
import type { Communicator } from "../communicator.ts";
import type { Process } from "../process.ts";
import type { Creation } from "../task.ts";
import { draftOf } from "./draft.ts";
import { joined, unionOf } from "./member-order.ts";
import { NewCommunicator } from "./new-communicator.ts";
import { WordExchange } from "./word-exchange.ts";

/** MPI_Intercomm_merge: the side that says `high` comes second; if both say the same, the one with the lowest world rank first. */
export class Merge extends NewCommunicator {
  private readonly inter: Communicator;
  private readonly count: number;
  private readonly exchange: WordExchange;
  private members: Group | null = null;

  constructor(inter: Communicator, high: boolean, process: Process) {
    super();
    this.inter = inter;
    this.count = inter.nextCollective(kindCode.intercomm_merge, unlike, unlike);
    const draft = draftOf(process, inter.context, unionOf(inter));
    this.exchange = new WordExchange(draft, [high ? 1 : 0], this.count);
  }

  override get creation(): Creation {
    return { comm: this.inter, number: this.count, kind: kindCode.intercomm_merge };
  }

  override advance(process: Process): boolean {
    if (this.members === null) {
      const flags = this.exchange.advance(process);
      if (flags === null) return false;
      this.error = this.exchange.error;
      if (this.error !== 0) return true;
      this.members = this.ordered(flags);
    }
    return this.agree(process, this.members, this.inter, this.count, this.inter.context);
  }

  private ordered(flags: Int32Array): Group {
    const { group, peers } = this.inter;
    const union = unionOf(this.inter);
    const isHigh = (side: Group): boolean => flags[union.rankOf(side.worldRank(0 as CommRank))] === 1;
    if (isHigh(group) === isHigh(peers)) return union;
    return isHigh(group) ? joined(peers, group) : joined(group, peers);
  }
}

saves({ Merge });
