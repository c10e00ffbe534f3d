import { deepEqual, equal } from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { printPlan } from "../core/fault/print.ts";
import { readFaultPlan } from "./fault-plan.ts";

const job = { ranks: 8, nodes: 4, sets: 4 };
const folder = mkdtempSync(join(tmpdir(), "banyan-faults-"));
after(() => rmSync(folder, { recursive: true }));

/** The plan in its own words, or what is wrong with it. */
function read(text: string): string {
  const plan = readFaultPlan(text, job);
  return typeof plan === "string" ? plan : printPlan(plan);
}

describe("X3 --faults", () => {
  it("takes a plan, or a file that holds one", () => {
    equal(read("kill rank 5 at 3s; seed 7"), "kill rank 5 at 3s; seed 7");
    const path = join(folder, "plan.txt");
    writeFileSync(path, "# Two nodes\nkill node 1 at 1s\nkill node 2 in recovery of set 1\n");
    equal(read(`@${path}`), "kill node 1 at 1s; kill node 2 in recovery of set 1");
    deepEqual(readFaultPlan("", job), { entries: [] });
  });

  it("says in one line what is wrong", () => {
    const missing = join(folder, "none.txt");
    equal(read(`@${missing}`), `Cannot read the fault plan ${missing}: there is no such file`);
    equal(read(`@${folder}`), `Cannot read the fault plan ${folder}: it is a folder`);
    equal(read("@"), 'Cannot read the fault plan: no file is named behind "@"; write --faults @plan.txt');
    equal(
      read("kill rank 5 now"),
      'Cannot read the fault plan: entry 1, "kill rank 5 now": "now" does not fit here; allowed: in, every, at',
    );
    equal(
      read("kill rank 9 at 3s"),
      'Cannot use the fault plan: entry 1, "kill rank 9 at 3s": there is no rank 9; the job has ranks 0 to 7',
    );
  });
});
