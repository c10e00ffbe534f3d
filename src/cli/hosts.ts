/** `--host` and `--hostfile` of other MPIs: all hosts must be this machine, because jobs run on one so far. */
import { readFileSync } from "node:fs";
import { hostname } from "node:os";
import { describeSystemError } from "../core/base/system-error.ts";
import { CommandError } from "./complain.ts";

const own = (): ReadonlySet<string> =>
  new Set(["localhost", "127.0.0.1", "::1", hostname(), hostname().split(".")[0]!]);

/** `a,b:4`: names, with how many ranks each may have. */
export function checkHosts(list: string): void {
  for (const each of list.split(",")) checkHost(each.replace(/:\d+$/, "").trim());
}

export function checkHostfile(path: string): void {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    throw new CommandError(`Cannot read the hostfile ${path}: ${describeSystemError(error)}`, 2);
  }
  for (const line of text.split("\n")) {
    const [name = ""] = line.replace(/#.*/, "").trim().split(/[\s:]/);
    checkHost(name);
  }
}

function checkHost(name: string): void {
  if (name === "" || own().has(name)) return;
  throw new CommandError(
    `Cannot use host ${name}: jobs run on this machine so far; leave hosts away, and give --nodes for several node processes`,
    2,
  );
}
