/** Files: each rank has a folder of its own, so that the actions there have one order. */
import type { FileOp } from "../script/script.ts";
import type { MakeFamily } from "./family.ts";

const does = ["write", "write", "append", "append", "create", "read", "read", "truncate", "rename", "remove"] as const;
const names = ["a", "b", "c"];

export const fileUses: MakeFamily = (draft) => ({
  name: "files",
  weight: 6,
  bearsDeaths: true,
  deal() {
    const { random } = draft;
    const rank = random.below(draft.ranks);
    for (let left = random.between(1, 4); left > 0; left--) draft.act(rank, { kind: "file", op: draw() });

    function draw(): FileOp {
      const [name, to] = random.shuffle([...names]) as [string, string];
      if (random.chance(0.3)) return { does: random.pick(["log", "log", "rename-log"] as const), name, to };
      if (random.chance(0.15)) return { does: "read", name: "input", to };
      return { does: random.pick(does), name, to };
    }
  },
});
