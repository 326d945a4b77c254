// Bundles the scripts to one file, and the licences of what is bundled to another.
import { build } from "esbuild";
import { readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const out = join(here, "../dist/page.js");
const result = await build({
  entryPoints: [join(here, "main.tsx")],
  absWorkingDir: here,
  bundle: true,
  minify: true,
  format: "iife",
  target: "es2022",
  charset: "ascii",
  jsx: "automatic",
  jsxImportSource: "preact",
  legalComments: "none",
  metafile: true,
  outfile: out,
});

const text = await readFile(out, "utf8");
if (/<\/script|<!--/i.test(text)) throw new Error("the bundle could end the script that holds it");

const packages = new Set();
for (const input of Object.keys(result.metafile.inputs)) {
  const m = input.match(/^node_modules\/((?:@[^/]+\/)?[^/]+)\//);
  if (m) packages.add(m[1]);
}
let licences = "page.js holds code of the packages below, with their licences.\n";
for (const name of [...packages].sort()) {
  const dir = join(here, "node_modules", name);
  const about = JSON.parse(await readFile(join(dir, "package.json"), "utf8"));
  licences += `\n${"=".repeat(70)}\n${name} ${about.version} (${about.license})\n\n`;
  licences += (await readFile(join(dir, "LICENSE"), "utf8")).trimEnd() + "\n";
}
await writeFile(join(here, "../dist/LICENSES.txt"), licences);
