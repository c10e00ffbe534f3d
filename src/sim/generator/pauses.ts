/** Pauses, and points where every rank waits for every other. */

import { dealCollective } from "./collectives.ts";
import type { MakeFamily } from "./family.ts";

/** Nothing is received while a rank computes: messages accumulate. */
export const pauses: MakeFamily = (draft) => ({
  name: "pauses",
  weight: 7,
  bearsDeaths: true,
  deal() {
    const { random } = draft;
    draft.act(random.below(draft.ranks), { kind: "compute", forNs: random.below(20_000) });
  },
});

/** Every rank waits for its requests, then for all ranks: no message from beyond this point takes an open receive before it. */
export const quietPoints: MakeFamily = (draft) => ({
  name: "quiet points",
  weight: 3,
  bearsDeaths: false,
  deal() {
    draft.quiet();
    const plan = { communicator: 0, kind: "barrier", root: 0, count: 0, shape: 0, reduction: "sum" } as const;
    dealCollective(draft, draft.collective({ ...plan, inPlace: false, lent: false }), "blocking");
    draft.passQuietPoint();
  },
});
