import { equal } from "node:assert/strict";
import { describe, it } from "node:test";
import { addressLimitMb, shortageOf } from "./memory-shortage.ts";

const limits = (soft: string): string => `Limit                     Soft Limit           Hard Limit           Units
Max stack size            8388608              unlimited            bytes
Max address space         ${soft.padEnd(20)} unlimited            bytes
`;

describe("X7 memory that cannot be had", () => {
  it("the limit on addresses is read as Linux writes it", () => {
    equal(addressLimitMb(limits("3072000000")), 2929);
    equal(addressLimitMb(limits("unlimited")), undefined);
    equal(addressLimitMb(""), undefined);
  });

  it("a limit is named, because less memory may not help", () => {
    equal(shortageOf("its 64 MB", undefined), "its 64 MB cannot be had; give less with --memory");
    equal(
      shortageOf("its 64 MB", 2929),
      "its 64 MB cannot be had with addresses limited to 2929 MB; raise that limit (ulimit -v) or give less with --memory",
    );
  });
});
