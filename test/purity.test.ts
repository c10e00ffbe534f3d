import { deepEqual, equal } from "node:assert/strict";
import { describe, it } from "node:test";
import { codeOf, lineOf, sourceFiles } from "./source-files.ts";

/** Nothing in core/ knows a clock, a timer, randomness, asynchrony or Node: what a pure state machine must not say. */
const forbidden: readonly { readonly what: string; readonly pattern: RegExp }[] = [
  { what: "a clock", pattern: /\bDate\b|\bperformance\b|\bhrtime\b/g },
  { what: "a timer", pattern: /\b(?:set(?:Timeout|Interval|Immediate)|queueMicrotask|nextTick)\b/g },
  { what: "a wait", pattern: /\bAtomics\.wait(?:Async)?\b/g },
  { what: "randomness", pattern: /\bMath\.random\b|\bcrypto\b/g },
  { what: "asynchrony", pattern: /\basync\b|\bawait\b|\bPromise\b/g },
  { what: "a global of Node", pattern: /\bglobalThis\b|\bBuffer\.(?:from|alloc)\b|\brequire\(|\bconsole\b/g },
];

function impuritiesIn(path: string, text: string): string[] {
  const code = codeOf(text);
  const found = forbidden.flatMap(({ what, pattern }) =>
    [...code.matchAll(pattern)].map((match) => ({ line: lineOf(code, match.index), said: `${what}: ${match[0]}` })),
  );
  for (const match of text.matchAll(/\bfrom "(node:[^"]+|[^."][^"]*)"/g)) {
    found.push({ line: lineOf(text, match.index), said: `a module from outside: ${match[1]}` });
  }
  return found.map(({ line, said }) => `src/${path}:${line}: ${said}`);
}

describe("the core is pure", () => {
  it("nothing in src/core uses a clock, timer, randomness, async or a module from outside", () => {
    const offenders = sourceFiles()
      .filter(({ path }) => path.startsWith("core/"))
      .flatMap(({ path, text }) => impuritiesIn(path, text));
    equal(offenders.join("\n"), "");
  });

  it("an offending line is named; words in comments and strings are none", () => {
    const text = [
      "// Date.now() would be wrong, and so would await",
      'const text = "Promise";',
      "const update = `Date $" + "{Date.now()}`;",
      "/* async",
      "   await */ const x = Math.random();",
      'import { readFileSync } from "node:fs";',
      'import { y } from "./y.ts";',
    ].join("\n");
    deepEqual(impuritiesIn("core/x.ts", text), [
      "src/core/x.ts:3: a clock: Date",
      "src/core/x.ts:5: randomness: Math.random",
      "src/core/x.ts:6: a module from outside: node:fs",
    ]);
  });
});
