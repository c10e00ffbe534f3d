import { equal, ok } from "node:assert/strict";
import { describe, it } from "node:test";
import { openFilesMax } from "./open-files.ts";

describe("X7 how many files may be open", () => {
  it("as the system says, for this process", () => {
    const max = openFilesMax();
    ok(max === undefined || max > 32);
  });

  it("the soft limit; none where there is none, or the system does not say", () => {
    const limits = (files: string): string =>
      `Limit   Soft Limit  Hard Limit  Units\nMax open files   ${files}   1048576   files\n`;
    equal(openFilesMax(limits("24")), 24);
    equal(openFilesMax(limits("unlimited")), undefined);
    equal(openFilesMax(""), undefined);
  });
});
