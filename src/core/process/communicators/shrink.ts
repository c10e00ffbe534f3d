import { saves } from "../../base/saved-classes.ts";
import { Group } from "../../comm/group.ts";
import type { Communicator } from "../communicator.ts";
import { contextCandidate } from "../context.ts";
import { agreesIn, type JoinedAgreement, joinAgreement, nextVerdict } from "../joined-agreement.ts";
import type { Process } from "../process.ts";
import { NewCommunicator } from "./new-communicator.ts";

/** Candidates in one agreement: one for each bit of its flags. */
const candidates = 32;

/**
 * MPIX_Comm_shrink, MPIX_Comm_ishrink: the members that live, in their order; of a revoked communicator too.
 *
 * One agreement says both which members are dead and which context the new communicator has: each bit of the flags is a candidate, set
 * by members that do not know it as another communicator's. So no member can have the new communicator while another has not, and who
 * dies meanwhile is either left out by all or dead in it for all.
 */
export class Shrink extends NewCommunicator {
  readonly parent: Communicator;
  private survey: JoinedAgreement | null = null;
  private attempt = 0;

  constructor(parent: Communicator) {
    super();
    this.parent = parent;
  }

  override advance(process: Process): boolean {
    for (;;) {
      this.survey ??= joinAgreement(process, this.parent, this.freeOnes(process));
      const verdict = nextVerdict(process, this.survey);
      if (verdict === null) return false;
      // The lowest bit that all members have set.
      const choice = verdict.flags === 0 ? -1 : 31 - Math.clz32(verdict.flags & -verdict.flags);
      if (choice >= 0) {
        const dead = Group.of(process.failures.of(this.parent).worldRanks().slice(0, verdict.failures));
        const { group, remote } = this.parent;
        const context = this.candidate(this.attempt * candidates + choice);
        this.result = process.addCommunicator(context, group.difference(dead), remote?.difference(dead) ?? null);
        return true;
      }
      this.attempt++;
      this.survey = null;
    }
  }

  override isStep(comm: Communicator): boolean {
    return agreesIn(this.survey, comm);
  }

  private freeOnes(process: Process): number {
    let flags = 0;
    for (let bit = 0; bit < candidates; bit++) {
      const context = this.candidate(this.attempt * candidates + bit);
      if (!process.isKnownContext(context)) flags |= 1 << bit;
    }
    return flags;
  }

  /** Members agree in the same order, whatever else they have tried meanwhile, so the number of the agreement will do. */
  private candidate(salt: number): number {
    const number = this.survey?.number ?? this.parent.agreements;
    return contextCandidate(this.parent.context ^ shrinkSalt, number, salt);
  }
}

/** Keeps them from the contexts of other communicators of the same parent. */
const shrinkSalt = 0x2545f491;

saves({ Shrink });
