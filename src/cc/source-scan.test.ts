import assert from "node:assert/strict";
import { it } from "node:test";
import { scanMacro, scanSource } from "./source-scan.ts";

it("M6 includes of all forms are seen, whatever the conditions around them", () => {
  const scanned = scanSource(
    [
      '#include "a.h"',
      "  #  include <b/c.h> // why",
      '#if 0\n#include"d.h"\n#endif',
      "#include_next <e.h>",
      '#import "f.h"',
      '#embed "data.bin" limit(3)',
      '#if __has_include(<g.h>) || __has_include ( "h.h" )',
      "#include CONFIG",
      "#include STRING(x.h)",
      '#define CONFIG "config.h"',
      "#define OTHER <other.h>",
      "#define N 3",
      'puts("#include");',
    ].join("\r\n"),
  );
  assert.deepEqual(scanned.quoted, ["a.h", "d.h", "f.h", "data.bin", "h.h"]);
  assert.deepEqual(scanned.angled, ["b/c.h", "e.h", "g.h"]);
  assert.deepEqual(scanned.macros, ["CONFIG", ""]);
  assert.deepEqual(scanned.definitions, [
    { macro: "CONFIG", file: "config.h", form: "quoted" },
    { macro: "OTHER", file: "other.h", form: "angled" },
  ]);
});

it("M6 -D may name a header", () => {
  assert.deepEqual(scanMacro('H="x.h"'), [{ macro: "H", file: "x.h", form: "quoted" }]);
  assert.deepEqual(scanMacro("H=<x.h>"), [{ macro: "H", file: "x.h", form: "angled" }]);
  assert.deepEqual(scanMacro("N=100"), []);
});
