/**
 * A thread for ranks whose program is written in C: one that runs in one go, or several that take turns. The thread's event
 * loop never turns.
 */
import { parentPort, workerData } from "node:worker_threads";
import { assert } from "../../core/base/assert.ts";
import { shareUndisturbed } from "../machine/undisturbed.ts";
import { newYield } from "../machine/yield.ts";
import { passGate } from "../messages/node-words.ts";
import type { CThreadSetup } from "../messages/rank-messages.ts";
import { LateCache } from "../rank/late-cache.ts";
import { Turns } from "./c-rank-turns.ts";
import { loadCRank } from "./load-c-rank.ts";
import { WaitingCRank } from "./waiting-c-rank.ts";

/** Given by the loader, see `rank-code.ts`. */
declare const createCache: () => Uint8Array;

assert(parentPort !== null, "c-rank.cjs runs as a worker thread");
// Of a crash in C: with ten frames its beginning would not be seen.
Error.stackTraceLimit = 50;
const { code, ranks: setups, undisturbed } = workerData as CThreadSetup;
shareUndisturbed(undisturbed);
const turns = setups.length > 1 ? new Turns(newYield()) : null;
const mustGiveWay = turns && ((rank: WaitingCRank, isOver: () => boolean) => turns.mustGiveWay(rank, isOver));
const ranks = setups.map(({ setup, port }) => {
  const lateCache = LateCache.for({ ...setup, code }, createCache);
  return new WaitingCRank({ setup, port, mustGiveWay, lateCache, abort: waitForTheEnd });
});
const first = ranks[0]!;
passGate(first.setup.words);
if (turns !== null) turns.run(ranks);
else first.sayEnding(first.ending(() => loadCRank(first).run()));
process.exit(0);

/** The node will terminate this thread; nothing of the program may run until then. */
function waitForTheEnd(): never {
  const never = new Int32Array(new SharedArrayBuffer(4));
  for (;;) Atomics.wait(never, 0, 0, 1000);
}
