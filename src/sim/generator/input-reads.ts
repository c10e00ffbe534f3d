/** Reads of standard input, which rank 0 has. */
import type { MakeFamily } from "./family.ts";

export const inputReads: MakeFamily = (draft) => ({
  name: "input",
  weight: 4,
  bearsDeaths: true,
  deal() {
    const { random } = draft;
    for (let left = random.between(1, 3); left > 0; left--) {
      draft.act(0, { kind: "input", room: random.pick([1, 7, 20, 100]) });
    }
  },
});
