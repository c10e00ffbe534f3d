import { equal, throws } from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { CommandError } from "./complain.ts";
import { readFaultPlan } from "./fault-plan.ts";

const folder = mkdtempSync(join(tmpdir(), "banyan-faults-"));
after(() => rmSync(folder, { recursive: true }));

describe("X3 --faults", () => {
  it("takes a plan, or a file that holds one", () => {
    equal(readFaultPlan("kill rank 5 at 3s; seed 7"), "kill rank 5 at 3s; seed 7");
    const path = join(folder, "plan.txt");
    const text = "# Two nodes\nkill node 1 at 1s\nkill node 2 in recovery of set 1\n";
    writeFileSync(path, text);
    equal(readFaultPlan(`@${path}`), text);
    equal(readFaultPlan(""), "");
  });

  it("says in one line why a file cannot be read", () => {
    const missing = join(folder, "none.txt");
    const says = (text: string, message: string) => throws(() => readFaultPlan(text), new CommandError(message, 2));
    says(`@${missing}`, `Cannot read the fault plan ${missing}: there is no such file`);
    says(`@${folder}`, `Cannot read the fault plan ${folder}: it is a folder`);
    says("@", 'Cannot read the fault plan: no file is named behind "@"; write --faults @plan.txt');
  });
});
