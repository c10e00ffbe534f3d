/** Lines that ranks print, in one piece or in several with other actions in between. */
import type { MakeFamily } from "./family.ts";

export const lines: MakeFamily = (draft) => ({
  name: "lines",
  weight: 6,
  bearsDeaths: true,
  deal() {
    const { random } = draft;
    const rank = random.below(draft.ranks);
    for (let left = random.between(1, 2); left > 0; left--) {
      draft.act(rank, { kind: "print", endsLine: random.chance(0.7) });
    }
  },
});
