/**
 * A family of actions: draws one event of its kind and deals it out to the ranks that take part. Families are listed in
 * families.ts; the rules they keep are those of generator.ts.
 */
import type { CommunicatorPlan } from "../script/communicator-plan.ts";
import type { Draft } from "./draft.ts";

export interface Family {
  readonly name: string;
  /** How often it is drawn, compared with the others. */
  readonly weight: number;
  /** Only messages between two named ranks, whose end is certain whoever dies. */
  readonly bearsDeaths: boolean;
  /** May do nothing, where the communicator does not suit it. */
  deal(comm: CommunicatorPlan): void;
  /** The program is over and everything has been waited for: gives back what the family still holds. */
  end?(): void;
}

export type MakeFamily = (draft: Draft) => Family;
