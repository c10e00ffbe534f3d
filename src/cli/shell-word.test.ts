import assert from "node:assert/strict";
import { test } from "node:test";
import { shellWord } from "./shell-word.ts";

test("M7: paths in commands that we propose are quoted as the shell needs it", () => {
  const words = ["/tmp/a-b_c.d", "my job", "", "it's", "$HOME/x", "漢字"];
  assert.deepEqual(words.map(shellWord), ["/tmp/a-b_c.d", "'my job'", "''", "'it'\\''s'", "'$HOME/x'", "'漢字'"]);
});
