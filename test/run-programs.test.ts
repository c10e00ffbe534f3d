/** Programs as users write them: kinds of files, modules, packages, where they are. Row M7. */
import assert from "node:assert/strict";
import { dirname } from "node:path";
import { test } from "node:test";
import { banyan, program, sorted } from "./harness.ts";

for (const extension of ["ts", "mts", "js", "mjs"]) {
  test(`M7: a .${extension} program runs as it is`, async () => {
    const typed = extension.endsWith("ts") ? ": number" : "";
    const path = program(
      `kinds/plain.${extension}`,
      `import { mpi } from "banyan";\nconst rank${typed} = mpi.world.rank;\nconsole.log("rank", rank);`,
    );
    const { code, stdout } = await banyan(["run", "-n", "2", path]);
    assert.equal(code, 0);
    assert.deepEqual(sorted(stdout), ["rank 0", "rank 1"]);
  });
}

test("M7: a CommonJS program, JSON, a dynamic import, a package and its files are found where the program lies", async () => {
  const path = program(
    "app/main.js",
    `const { answer } = require("./data.json");
    const tool = require("tool");
    const { join } = require("path");
    import("./more.js").then((more) => console.log(answer, tool.name, more.where, typeof join));`,
  );
  program("app/data.json", `{ "answer": 42 }`);
  program("app/more.js", `import { name } from "tool"; export const where = name;`);
  program(
    "app/node_modules/tool/package.json",
    `{ "name": "tool", "exports": { "import": "./esm.mjs", "require": "./cjs.cjs" } }`,
  );
  program("app/node_modules/tool/esm.mjs", `export const name = "tool as module";`);
  program("app/node_modules/tool/cjs.cjs", `exports.name = "tool as script";`);
  const { code, stdout, stderr } = await banyan(["run", path]);
  assert.equal(code, 0, stderr);
  assert.equal(stdout, "42 tool as script tool as module function\n");
});

test("M7: a CommonJS program is the main module, and knows where it is", async () => {
  const path = program("main/guard.js", `if (require.main === module) console.log(__dirname, __filename);`);
  const { stdout } = await banyan(["run", path]);
  assert.equal(stdout, `${dirname(path)} ${path}\n`);
});

test("M7: await outside functions, and packages that are modules only", async () => {
  const path = program(
    "modern/main.ts",
    `import { only } from "only";
    const { sep } = await import("node:path");
    console.log(only, sep);`,
  );
  program("modern/node_modules/only/package.json", `{ "name": "only", "type": "module", "exports": "./index.js" }`);
  program("modern/node_modules/only/index.js", `export const only = await Promise.resolve("module only");`);
  const { code, stdout, stderr } = await banyan(["run", path]);
  assert.equal(code, 0, stderr);
  assert.equal(stdout, "module only /\n");
});

test("M7: import.meta says where each module lies; process.argv names the program", async () => {
  const path = program(
    "place/main.ts",
    `import { there } from "./deep/other.ts";
    import { createRequire } from "node:module";
    const require = createRequire(import.meta.url);
    console.log(import.meta.dirname, import.meta.filename, there, process.argv[1], typeof require("fs"));`,
  );
  program("place/deep/other.ts", `export const there: string = import.meta.url;`);
  const { stdout } = await banyan(["run", path]);
  assert.equal(stdout, `${dirname(path)} ${path} file://${dirname(path)}/deep/other.ts ${path} object\n`);
});

test("M7: outside a rank `mpi` says how to get into one", async () => {
  const { mpi } = await import("banyan");
  assert.throws(() => mpi.world, /start the program with `banyan run`|not a rank/);
});
