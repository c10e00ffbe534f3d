import { equal } from "node:assert/strict";
import { describe, it } from "node:test";
import { describeDiskTrouble, isDiskTrouble } from "./disk-trouble.ts";

const trouble = (path?: string): NodeJS.ErrnoException =>
  Object.assign(new Error("EACCES: permission denied, open"), { code: "EACCES", syscall: "open", path });

describe("X7 trouble with the disk while something is compiled", () => {
  const cache = "/home/ann/.cache/banyan";
  const advice = "; BANYAN_CACHE may name another folder";

  it("names the file, and what to do where the cache is in the way", () => {
    equal(describeDiskTrouble(trouble("/src/a.h"), cache), "Cannot compile: /src/a.h: permission denied");
    for (const path of [cache, `${cache}/cc/entries/ab`, "/home/ann"]) {
      equal(describeDiskTrouble(trouble(path), cache), `Cannot compile: ${path}: permission denied${advice}`);
    }
    equal(
      describeDiskTrouble(trouble("/home/ann/.cache/banyan2"), cache),
      "Cannot compile: /home/ann/.cache/banyan2: permission denied",
    );
    equal(describeDiskTrouble(trouble(), cache), "Cannot compile: permission denied");
  });

  it("is an error of the operating system, and nothing else", () => {
    equal(isDiskTrouble(trouble()), true);
    equal(isDiskTrouble(new TypeError("undefined is not a function")), false);
    equal(isDiskTrouble("text"), false);
  });
});
