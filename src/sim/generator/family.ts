/**
 * A family of actions: draws one event of its kind and deals it out to the ranks that take part. Families are listed in
 * families.ts; they keep the rules of generator.ts.
 */
import type { CommunicatorPlan } from "../script/communicator-plan.ts";
import type { Draft } from "./draft.ts";

export interface Family {
  readonly name: string;
  /** How often the family is drawn, compared with the others. */
  readonly weight: number;
  /** True: only messages between two named ranks, whose result is certain whichever rank dies. */
  readonly bearsDeaths: boolean;
  /** False: not for programs that revoke their communicators after a death. True unless given. */
  readonly bearsRevocation?: boolean;
  /** Draws an event; may do nothing, where the communicator does not suit the family. */
  deal(comm: CommunicatorPlan): void;
  /** The program is over and every request has ended: frees what the family still holds. */
  end?(): void;
}

export type MakeFamily = (draft: Draft) => Family;
